# A node agent on top of the image that jobs train in. Built from the root of the repository:
#   docker build -f docker/agent.Dockerfile --build-arg BASE=your/pytorch-image:1.0 -t regroup-agent .
# BASE needs Python 3.11 or newer with torch 2.13 or newer as python3. Without BASE, one to try it out is made.
ARG BASE=trial

FROM python:3.11-slim-bookworm AS trial
RUN pip install --no-cache-dir torch==2.13.0 numpy==2.4.6

FROM ${BASE}
USER root
WORKDIR /opt/regroup
COPY pyproject.toml src/
COPY agents src/agents
# In an environment of its own: what the agent needs changes nothing for the jobs, which run under python3.
RUN python3 -m venv agent && agent/bin/pip install --no-cache-dir ./src && rm -r src \
  && ln -s /opt/regroup/agent/bin/regroup-agent /usr/local/bin/regroup-agent
COPY examples examples
COPY --chmod=0755 docker/agent_init.py /usr/local/bin/agent-init

# The folder that nodes share is made here too: a new volume takes its owner from the image.
RUN useradd --uid 10001 --create-home regroup \
  && install -d -o regroup -g regroup -m 0700 /var/lib/regroup /var/lib/regroup/checkpoints
USER regroup
ENV REGROUP_DATA=/var/lib/regroup REGROUP_PYTHON=python3
STOPSIGNAL SIGTERM
ENTRYPOINT ["agent-init"]
CMD []
