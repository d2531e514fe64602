"""Reads every Parquet file of a run with pandas, DuckDB and Polars, and prints for each file and reader, as JSON, the columns
with their kinds, the number of rows, the sums of the numbers and the texts of the first and the last row."""

import json
import math
import sys
from pathlib import Path

import duckdb
import pandas
import polars


def kind(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "str"
    return type(value).__name__


def summary(columns):
    """columns: name -> list of Python values"""
    out = {"columns": list(columns), "rows": len(next(iter(columns.values())))}
    for name, values in columns.items():
        known = [None if isinstance(v, float) and math.isnan(v) else v for v in values]
        kinds = sorted({kind(v) for v in known if v is not None})
        out[name] = {"kinds": kinds}
        if kinds == ["str"]:
            out[name]["ends"] = [known[0], known[-1]]
        elif name == "feature_id":
            out[name]["ends"] = [str(known[0]), str(known[-1])]  # JSON has no such integers
        elif kinds:
            out[name]["sum"] = repr(math.fsum(v for v in known if v is not None))  # perhaps infinite
    return out


def with_pandas(path):
    table = pandas.read_parquet(path, dtype_backend="pyarrow")
    return {name: table[name].to_numpy(dtype=object, na_value=None).tolist() for name in table.columns}


def with_duckdb(path):
    cursor = duckdb.sql(f"SELECT * FROM '{path}'")
    rows = cursor.fetchall()
    return {name: [row[i] for row in rows] for i, name in enumerate(cursor.columns)}


def with_polars(path):
    return polars.read_parquet(path).to_dict(as_series=False)


def main(run):
    result = {}
    for path in sorted(Path(run).rglob("*.parquet")):
        name = path.relative_to(run).as_posix()
        result[name] = {reader.__name__[5:]: summary(reader(path)) for reader in (with_pandas, with_duckdb, with_polars)}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
