// Package pipeline builds the graphs from the steps of package transforms, and runs them.
//
// There are three graphs. [Count] reads documents and writes counts. [Select] reads counts and writes the features and the
// model. [Train] does both, and reads the counts again only to write the selected features:
//
//	files → ranges → [CountFeatures] → count blocks by shard → [MergeCounts] → counts/part-NNNNN
//	                       │ totals                    labels ↑     │ parts        │ histogram of counts
//	                       └──────→ [SumTotals] ──────────────┘     │              │
//	                                    │ sum                       │              │
//	                                    └───→ [Reconcile] ←─────────┤              │
//	                                            │ verdict           │              │
//	                                            ├──→ [Solve] ←──────┼──────────────┘
//	                                            │       │ models    │
//	                                            │       ├──→ [SelectFeatures] reads the parts again
//	                                            │       │           │ features
//	                                            └──→ [Commit] ←─────┤
//	                                                    ↑ names     │
//	                                              [NameBuckets] ←───┘ if features are counted in buckets
//
// SumTotals adds up the documents and tokens of the classes, which blocks do not contain, and passes the labels of the
// classes to MergeCounts, because blocks contain only ids.
//
// If a selection leaves features out, with --min_df or another rule, PruneFeatures stands between Reconcile and Solve. It reads
// the parts, which have all features, and makes the histogram of those that are left. SelectFeatures leaves out the same.
//
// The text is read once, by CountFeatures. It runs on all workers, like MergeCounts and SelectFeatures. Only the names of
// buckets need a second pass. The data after the merge is small: a vocabulary of 10⁹ features has about 10⁷ distinct pairs of
// counts, and the solver sees only those.
//
// The result does not depend on how the work is split. Counts are integers, and merging them is associative and
// commutative; every order is total; files have fixed names and contain neither the machine nor the time. So a step that
// is retried on any worker writes the same bytes, and the same command writes the same Parquet files on every runner.
//
// A run is published by one file, _SUCCESS, which Commit writes last, inside the graph: the program that submitted the job
// may have exited. If the data fail a check, the job does not fail; Commit writes a verdict to the output folder.
package pipeline
