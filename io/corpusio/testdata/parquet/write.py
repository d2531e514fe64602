"""Writes the Parquet files of this folder, with several writers and options. All have the same 40 documents.

documents.tsv has the documents that are not rejected. ../matrix.parquet is the matrix of testdata/script/matrices.txtar.
"""
import datetime, decimal, random
import pyarrow as pa, pyarrow.parquet as pq

random.seed(1)
words = "good bad film plot actor scene ünïcode 中文 ending script".split()
rows = 40
label = [random.choice(["neg", "pos"]) for _ in range(rows)]
text = [" ".join(random.choices(words, k=random.randint(0, 6))) for _ in range(rows)]
text[7] = None
columns = {
    "label": pa.array(label),
    "text": pa.array(text),
    "title": pa.array([None if i % 3 == 0 else "title %d" % i for i in range(rows)]),
    "small": pa.array([i % 5 - 2 for i in range(rows)], pa.int8()),
    "unsigned": pa.array([2**64 - 1 - i for i in range(rows)], pa.uint64()),
    "real": pa.array([i / 4 for i in range(rows)], pa.float32()),
    "double": pa.array([float("nan") if i == 3 else i * 1e21 for i in range(rows)], pa.float64()),
    "flag": pa.array([None if i == 2 else i % 2 == 0 for i in range(rows)]),
    "price": pa.array([decimal.Decimal(i * 7 - 50) / 100 for i in range(rows)], pa.decimal128(10, 2)),
    "day": pa.array([datetime.date(2024, 5, 1) - datetime.timedelta(days=i * 900) for i in range(rows)]),
    "time": pa.array([datetime.datetime(2024, 5, 1, 10, 30, i) for i in range(rows)], pa.timestamp("us")),
    "zoned": pa.array([datetime.datetime(1960, 5, 1, 10, 30, i, 500000) for i in range(rows)], pa.timestamp("ms", "UTC")),
    "fixed": pa.array([b"%04d" % i for i in range(rows)], pa.binary(4)),
    "list": pa.array([["a", "b"]] * rows),
    "struct": pa.array([{"a": 1, "b": {"c": "x"}}] * rows),
}
t = pa.table(columns)
write = lambda name, t=t, **k: pq.write_table(t, name + ".parquet", **k)
write("pyarrow")
write("pyarrow_v2_delta", version="2.6", data_page_version="2.0", compression="zstd", use_dictionary=False, row_group_size=9,
      column_encoding={"text": "DELTA_LENGTH_BYTE_ARRAY", "label": "DELTA_BYTE_ARRAY", "small": "DELTA_BINARY_PACKED",
                       "unsigned": "DELTA_BINARY_PACKED", "real": "BYTE_STREAM_SPLIT", "double": "BYTE_STREAM_SPLIT"}, write_page_checksum=True)
for codec in ["gzip", "brotli", "lz4", "none"]:
    write("pyarrow_" + codec, compression=codec, row_group_size=17, data_page_size=64, write_batch_size=4)
write("pyarrow_int96", use_deprecated_int96_timestamps=True)
write("pyarrow_category", t.set_column(0, "label", t["label"].dictionary_encode()).set_column(1, "text", t["text"].cast(pa.large_string())))
write("pyarrow_view", t.set_column(1, "text", t["text"].cast(pa.string_view())) if hasattr(pa, "string_view") else t)
write("pyarrow_required", t.select(["label", "text"]).set_column(0, pa.field("label", pa.string(), nullable=False), t["label"]))
write("no_rows", t.slice(0, 0))
with open("documents.tsv", "w") as f:
    f.writelines("%s\t%s\n" % (l, x) for l, x in zip(label, text) if x is not None)
matrix = pa.table({"label": [1, 0, 1, 0], "upon": pa.array([2, 0, 1, 1], pa.int16()), "whilst": [0.0, 3.0, 0.0, 2.0], "to": [1, 1, 0, 5]})
pq.write_table(matrix, "../matrix.parquet", row_group_size=3)
flat = t.drop_columns(["struct"])
try:
    import polars as pl
    pl.from_arrow(flat).with_columns(pl.col("label").cast(pl.Categorical)).write_parquet("polars.parquet", row_group_size=16)
    pl.from_arrow(flat).write_parquet("polars_lz4.parquet", compression="lz4", statistics=False)
except ImportError: print("no polars")
try:
    import duckdb
    duckdb.sql("copy (select * from t) to 'duckdb.parquet' (format parquet)")
    duckdb.sql("copy (select * from t) to 'duckdb_v2.parquet' (format parquet, parquet_version v2, compression zstd)")
except ImportError: print("no duckdb")
