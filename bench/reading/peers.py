"""Documents to class counts from several formats, as other tools do it: peers.py TOOL FILE

FILE has the columns label and text. Its name ends in .tsv, .csv, .jsonl or .parquet; TSV has neither header nor quotes. A
word is two or more letters, digits or underscores, in lower case. The counts stay in memory. What is printed, as JSON, is how
many tokens were counted. peers.py convert FILE.tsv writes the other formats beside it.
"""

import csv
import json
import sys

BATCH = 10_000  # documents


def convert(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("label", pa.string()), ("text", pa.string())])
    base = path.removesuffix("tsv")
    with (
        open(path, encoding="utf-8", errors="replace", newline="\n") as file,
        open(base + "csv", "w", encoding="utf-8", newline="") as as_csv,
        open(base + "jsonl", "w", encoding="utf-8") as as_jsonl,
        pq.ParquetWriter(base + "parquet", schema, compression="snappy") as as_parquet,
    ):
        rows = csv.writer(as_csv, lineterminator="\n")
        rows.writerow(schema.names)
        batch = []
        for line in file:
            label, _, text = line.rstrip("\n").partition("\t")
            rows.writerow((label, text))
            as_jsonl.write(json.dumps({"label": label, "text": text}, ensure_ascii=False) + "\n")
            batch.append({"label": label, "text": text})
            if len(batch) == BATCH:
                as_parquet.write_table(pa.Table.from_pylist(batch, schema))
                batch = []
        as_parquet.write_table(pa.Table.from_pylist(batch, schema))


def polars(path):
    import polars as pl

    strings = {"label": pl.String, "text": pl.String}
    table = {
        "tsv": lambda: pl.scan_csv(path, separator="\t", has_header=False, quote_char=None, schema=strings),
        "csv": lambda: pl.scan_csv(path, schema=strings),
        "jsonl": lambda: pl.scan_ndjson(path, schema=strings),
        "parquet": lambda: pl.scan_parquet(path),
    }[path.rpartition(".")[2]]()
    words = pl.col("text").str.to_lowercase().str.extract_all(r"\w{2,}")
    counts = table.select("label", words.alias("word")).explode("word").drop_nulls("word").group_by("label", "word").len()
    return counts.collect(engine="streaming")["len"].sum()


def duckdb(path):
    import duckdb

    columns = "columns={label: 'VARCHAR', text: 'VARCHAR'}"
    table = {
        "tsv": rf"read_csv($path, delim='\t', header=false, quote='', escape='', max_line_size=8388608, {columns})",
        "csv": f"read_csv($path, delim=',', header=true, quote='\"', max_line_size=8388608, {columns})",
        "jsonl": f"read_json($path, format='newline_delimited', {columns})",
        "parquet": "read_parquet($path)",
    }[path.rpartition(".")[2]]
    query = rf"""SELECT label, word, count(*) AS n
                 FROM (SELECT label, unnest(regexp_extract_all(lower(text), '[\p{{L}}\p{{N}}_]{{2,}}')) AS word FROM {table})
                 GROUP BY label, word"""
    return duckdb.execute(query, {"path": path}).fetchnumpy()["n"].sum()


def clickhouse(path):
    import chdb

    name = {"tsv": "TSVRaw", "csv": "CSVWithNames", "jsonl": "JSONEachRow", "parquet": "Parquet"}[path.rpartition(".")[2]]
    query = rf"""SELECT sum(n) FROM (
                   SELECT label, word, count() AS n
                   FROM (SELECT label, arrayJoin(extractAll(lowerUTF8(text), '[\\p{{L}}\\p{{N}}_]{{2,}}')) AS word
                         FROM file('{path}', {name}, 'label String, text String'))
                   GROUP BY label, word)"""
    return int(str(chdb.query(query, "CSV")).strip().strip('"'))


def main():
    tool, path = sys.argv[1:]
    if tool == "convert":
        return convert(path)
    tokens = {f.__name__: f for f in [polars, duckdb, clickhouse]}[tool](path)
    print(json.dumps({"tokens": int(tokens)}))


main()
