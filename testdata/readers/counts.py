"""Writes the counts of a long CSV file, the first argument, as others would to Parquet files in a folder, the second: pandas with
categories and wide, Polars with categories, DuckDB as it comes and as the result of a query."""

import sys
from pathlib import Path

import duckdb
import pandas
import polars

source, target = sys.argv[1], Path(sys.argv[2])

counts = pandas.read_csv(source, dtype={"class": "category"}, float_precision="round_trip")
counts.to_parquet(target / "pandas.parquet")
counts.pivot(index="feature", columns="class", values="count").fillna(0).reset_index().to_parquet(target / "pandas-wide.parquet")

polars.from_pandas(counts).write_parquet(target / "polars.parquet")

duckdb.sql(f"COPY (SELECT * FROM counts) TO '{target}/duckdb.parquet'")
duckdb.sql(f"COPY (SELECT class, feature, sum(count) AS count FROM counts GROUP BY feature, class) TO '{target}/query.parquet'")
