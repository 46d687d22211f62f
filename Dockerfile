# Builds the image of the server from the source. `make image` assembles the same contents without a daemon, and gives the
# same bytes again.
#
#   docker build --build-arg VERSION=v0.1.0 --build-arg REVISION="$(git rev-parse HEAD)" --tag placement-guard .

FROM docker.io/library/rust:1-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates musl-tools \
    && rustup target add wasm32-unknown-unknown "$(uname --machine)-unknown-linux-musl"
WORKDIR /source
COPY . .
RUN make module \
    && architecture=$(dpkg --print-architecture) \
    && .ci/build-linux "$architecture" \
    && mkdir -p /root-of-image/etc/ssl/certs \
    && cp "target/linux/$architecture/placement-guard" LICENSE /root-of-image/ \
    && cp target/placement-guard.wasm /root-of-image/policy.wasm \
    && cp /etc/ssl/certs/ca-certificates.crt /root-of-image/etc/ssl/certs/ \
    && printf 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n' >/root-of-image/etc/passwd \
    && printf 'root:x:0:\nnonroot:x:65532:\n' >/root-of-image/etc/group

FROM scratch
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="placement-guard" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/placement-guard/placement-guard"
COPY --from=build /root-of-image/ /
ENV PATH=/
EXPOSE 8443 8081
USER 65532:65532
ENTRYPOINT ["/placement-guard"]
CMD ["--help"]
