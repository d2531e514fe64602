#!/bin/sh
# Builds the image $1 for Linux: the program, the certificates of this machine, a user and /tmp. What follows $1 goes to
# the builder, such as --build-arg BASE=gcr.io/distroless/static.
#
#   BUILDER     docker (the default), podman or buildah
#   GOARCH      of the image, as Go says it
#   CA_BUNDLE   certificates to trust, if not those of this machine
set -eu
image=${1:?the name of the image}
shift
cd "$(dirname "$0")/.."
if [ -z "${CA_BUNDLE:-}" ]; then
	for CA_BUNDLE in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem ""; do
		[ ! -s "$CA_BUNDLE" ] || break
	done
fi
[ -s "$CA_BUNDLE" ] || { echo "no certificates on this machine: name a file with CA_BUNDLE" >&2; exit 1; }
umask 022
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/etc/ssl/certs" "$root/opt/sparsenb"
mkdir -m 1777 "$root/tmp"
chmod 755 "$root"
cp docker/etc/passwd docker/etc/group "$root/etc/"
cp "$CA_BUNDLE" "$root/etc/ssl/certs/ca-certificates.crt"
GOARCH=${GOARCH:-$(go env GOARCH)}
CGO_ENABLED=0 GOOS=linux GOARCH=$GOARCH go build -trimpath -ldflags="-s -w" -o "$root/opt/sparsenb/sparsenb" ./cmd/sparsenb
"${BUILDER:-docker}" build --platform "linux/$GOARCH" --tag "$image" --file docker/Dockerfile "$@" "$root"
