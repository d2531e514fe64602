// Package pipeline puts the steps of package transforms together and runs them.
//
// There are three pipelines. [Count] reads documents and writes counts. [Select] reads counts and writes the features
// and the model. [Train] is both in one, without reading the counts back before the features are known:
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
//	                                              [NameBuckets] ←───┘ where features are counted in buckets
//
// SumTotals adds up what the blocks do not have, and tells MergeCounts the labels of the classes, for which blocks have ids.
//
// The text is read once, by CountFeatures, which runs on all workers, as do MergeCounts and SelectFeatures; only the names
// of buckets take a second reading. What comes after is small: a vocabulary of 10⁹ features has some 10⁷ different pairs
// of counts, and the solver sees those.
//
// The result does not depend on how the work was split. Counts are integers and merging them is associative and
// commutative; every order is total; files have fixed names and nothing in them tells of the machine or the time. So a
// step that runs twice, on whichever worker, writes the same bytes, and equal commands give equal Parquet files on every
// runner.
//
// A run is published by one file, _SUCCESS, which Commit writes last, inside the graph: the program that submitted the
// job need not be there any more. Data that fail a gate are not an error of the job but a verdict, which Commit leaves
// in the output for whoever asks.
package pipeline
