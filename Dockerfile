# The image of all commands: one static program and the certificates, an unprivileged user, and a
# root file system that can be read-only. The program writes only to /data, and only if
# COSMOS_ENDPOINT is not set or local keys are used.
#
#   docker build --build-arg VERSION=v1.2.3 -t cosmosblog .
#   docker run --read-only --cap-drop ALL -p 8080:8080 -v cosmosblog:/data cosmosblog
#
# The tag of the build's image can move. To pin it, append @ and the digest that
# `docker buildx imagetools inspect golang:1.26` prints to its name.
#
# .ci/image runs these steps one by one, without a container engine.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X cosmosblog/cli.version=${VERSION}" -o /image/cosmosblog .
RUN mkdir -p -m 0700 /image/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /image/cosmosblog /cosmosblog
COPY --from=build --chown=65532:65532 /image/data /data
USER 65532:65532
ENV COSMOSBLOG_ADDR=0.0.0.0:8080
ENV COSMOSBLOG_PRODUCTION=true
ENV COSMOSBLOG_DATA=/data
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["/cosmosblog"]
