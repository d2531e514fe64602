#!/bin/sh
# Installs what the engine tests need into the folder $1, with the pip $2: Flink and Spark from their Python packages, which
# contain the full distributions, and Beam's job servers from Maven.
set -eu
cd "$(dirname "$0")"
for tool in java mvn; do
	command -v $tool >/dev/null || { echo "the engine tests need $tool: install a JDK 17 and Maven (Debian: openjdk-17-jdk-headless maven), or set ENGINES=off"; exit 1; }
done
mkdir -p "$1"
# Pip verifies the checksums of the archives.
"$2" download --quiet --disable-pip-version-check --no-deps --no-binary :all: --require-hashes \
	--requirement requirements.txt --dest "$1/archives"
for archive in "$1"/archives/*.tar.gz; do tar -xzf "$archive" -C "$1"; done
rm -rf "$1/archives"
(cd "$1" && ln -sfn apache-flink-libraries-*/deps flink && ln -sfn pyspark-*/deps spark)
for engine in flink spark; do
	mkdir -p "$1/$engine-job-server"
	cp $engine-job-server.xml "$1/$engine-job-server/pom.xml"
	(cd "$1/$engine-job-server" && mvn --quiet --batch-mode package)
done
rm -rf "$1"/*-job-server/target
touch "$1/ready"
