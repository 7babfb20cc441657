# Everything a person types here. `make help` prints it.
HOST ?= 127.0.0.1
PORT ?= 8000
DATA ?= ./data
NODES ?= 3
SLOTS ?= 2
NAME ?=
ROLE ?=
CASE ?=
N ?= 10
AGAINST ?=
export HOST PORT DATA NODES SLOTS NAME ROLE
# Node may live in .venv (from its wheel), so that folder comes first.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Settings want a data folder even where none is used.
SCRATCH := REGROUP_DATA="$(CURDIR)/.venv/scratch"
PYTHON ?= python3
# Most tests wait for processes, so two files at a time take little more than half as long.
AT_ONCE := -n 2 --dist loadfile --no-loadscope-reorder

# make token prints the token alone, also when another make calls it.
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := help
.PHONY: help run token user install check test bench api clean

help: ## Print what can be typed here
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 18
	@echo "Variables: HOST=$(HOST) PORT=$(PORT) DATA=$(DATA) NODES=$(NODES) SLOTS=$(SLOTS); for token and user: NAME, ROLE; for bench: CASE, N, AGAINST"

run: ## Install what is missing and run Regroup here until Ctrl-C; HOST=0.0.0.0 lets other machines join
	@$(PYTHON) tools/bootstrap.py run
	@exec .venv/bin/python -m webapp.stack --host "$$HOST" --port "$$PORT" --data "$$DATA" --nodes "$$NODES" --slots "$$SLOTS"

token: ## Print a new API token: make token NAME=anna ROLE=operator
	@test -x .venv/bin/python || { echo "Nothing is installed yet; start Regroup first: make run" >&2; exit 1; }
	@exec .venv/bin/python -m webapp.stack.admin "$$DATA" make_token "$$NAME" --role "$${ROLE:-operator}"

user: ## Make an account that can log in, or give it a new password: make user NAME=anna ROLE=viewer
	@test -x .venv/bin/python || { echo "Nothing is installed yet; start Regroup first: make run" >&2; exit 1; }
	@exec .venv/bin/python -m webapp.stack.admin "$$DATA" make_user "$$NAME" --role "$$ROLE"

install: ## Install and build what `make run` needs, and stop there
	@$(PYTHON) tools/bootstrap.py run

check: ## Style, types, import order, generated files
	@$(PYTHON) tools/bootstrap.py check
	@exec .venv/bin/python tools/check.py

test: ## The whole suite, browser tests and frontend included; the hub's tests on PostgreSQL too
	@$(PYTHON) tools/bootstrap.py test
	@cd frontend && npm run --silent test
	@$(SCRATCH) .venv/bin/python -m pytest $(if $(TESTS),$(TESTS),$(AT_ONCE) -m "not alone")
	@$(if $(TESTS),,$(SCRATCH) .venv/bin/python -m pytest -m alone)
	@$(if $(TESTS),,$(SCRATCH) .venv/bin/python -m tests.postgres --parts 2 .venv/bin/python -m pytest -p no:cacheprovider tests/webapp)

bench: export CASE := $(CASE)
bench: export N := $(N)
bench: export AGAINST := $(AGAINST)
bench: ## Recovery, launch and step time beside plain torchrun: make bench CASE=kill-1x2 N=20
	@$(PYTHON) tools/bootstrap.py test >&2
	@exec .venv/bin/python -m tests.benchmarks --case "$$CASE" -n "$$N" --against "$$AGAINST"

api: ## Write openapi.json and the frontend's types anew
	@$(PYTHON) tools/bootstrap.py check
	@$(SCRATCH) .venv/bin/python tools/generated.py

clean: ## Remove what was installed and built; the data folder stays
	@rm -rf .venv .venv-bench .stamps frontend/node_modules frontend/dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis test-results
