# The hub: one image for web, ingest, worker, beat and migrate, chosen by command (see compose.yaml).
# Built from the root of the repository: docker build -f docker/hub.Dockerfile -t regroup-hub .

FROM node:24-bookworm-slim AS page
WORKDIR /page
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci
COPY frontend ./
RUN npm run build

FROM python:3.11-slim-bookworm
# The nodes' image has the examples in the same place, so the example of the form runs there.
WORKDIR /opt/regroup
COPY requirements-hub.txt ./
RUN pip install --no-cache-dir -r requirements-hub.txt
COPY manage.py ./
COPY agents agents
COPY webapp webapp
COPY examples examples
COPY --from=page /page/dist frontend/dist

RUN useradd --uid 10001 --create-home regroup && install -d -o regroup -g regroup -m 0700 /var/lib/regroup
USER regroup
ENV REGROUP_DATA=/var/lib/regroup
EXPOSE 8000
# For web. Those that answer no requests switch it off.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["python", "-m", "webapp.web", "--host", "0.0.0.0", "--port", "8000"]
