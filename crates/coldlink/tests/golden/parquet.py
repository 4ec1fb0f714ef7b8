"""Writes tests/files/nodes.parquet: a column of each kind, as pyarrow writes them.

    pip install pyarrow==26.0.1 && python parquet.py
"""

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

table = pa.table(
    {
        "id": ["a", "b", "c"],
        "title": ["Éléments of graphs", None, "of links"],
        "price": pa.array([1.5, None, -2.0], pa.float32()),
        "stock": pa.array([3, 4, None], pa.int64()),
        "new": pa.array([True, False, None], pa.bool_()),
        "listed": pa.array([datetime.date(2024, 5, 1), None, datetime.date(1999, 12, 31)], pa.date32()),
        "seen": pa.array([datetime.datetime(2024, 5, 1, 12, 30), None, None], pa.timestamp("us")),
        "tags": pa.array([["x", "y|z"], [], None], pa.list_(pa.string())),
        "look": pa.array([[0.5, 1.0], [0.25, 2.0], [0.0, -1.5]], pa.list_(pa.float32(), 2)),
        "sort": pa.array(["u", "i", "i"], pa.dictionary(pa.int8(), pa.string())),
    }
)
pq.write_table(table, Path(__file__).parent.parent / "files" / "nodes.parquet", compression="zstd")
