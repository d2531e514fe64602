#!/bin/sh
# Builds the launcher's image $1, pushes it, and writes the Flex Template $2, a name such as gs://BUCKET/sparsenb.json.
# What follows goes to gcloud, such as --service-account-email=… or --temp-location=gs://…, as defaults of the template.
# BUILDER is docker (the default) or podman.
set -eu
image=${1:?the name of the image}
template=${2:?where the template is to be, gs://…}
shift 2
cd "$(dirname "$0")/../.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
# Dataflow's launchers are x86, and so must its workers be: they run the launcher's own program.
CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -trimpath -ldflags="-s -w" -o "$root/sparsenb" ./cmd/sparsenb
"${BUILDER:-docker}" build --platform linux/amd64 --tag "$image" --file docker/flex-template/Dockerfile "$root"
"${BUILDER:-docker}" push "$image"
gcloud dataflow flex-template build "$template" --image="$image" --sdk-language=GO \
	--metadata-file=docker/flex-template/metadata.json "$@"
