# syntax=docker/dockerfile:1
# The service in one image: API, worker and console. It runs as an unprivileged user on a read-only root file system. It writes
# only to /data, and only if blobs are stored on disk or the program runs its own PostgreSQL.

FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run package heddle \
 && mkdir /app && cd /app && npm init --yes > /dev/null \
 && npm install --no-audit --no-fund --omit=dev /src/dist/packages/heddle-*.tgz \
 # The Node.js in the package is for machines with an older version of Node.js.
 && rm -rf node_modules/node-linux-* node_modules/node-win-*

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4100 HEDDLE_DATA_DIR=/data
RUN groupadd --gid 10001 heddle \
 && useradd --uid 10001 --gid 10001 --home-dir /data --shell /usr/sbin/nologin heddle \
 && install --directory --owner=10001 --group=10001 --mode=0700 /data
COPY --from=build --chown=root:root /app /app
USER 10001:10001
VOLUME /data
EXPOSE 4100
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/node_modules/heddle/bin/heddle.mjs", "serve"]
