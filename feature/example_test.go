package feature_test

import (
	"fmt"

	"github.com/sparsenb/sparsenb/feature"
)

// The key of a name decides its feature_id and its shard. The check distinguishes names with the same key.
func Example() {
	for _, name := range []string{"upon", "constitutionality"} {
		key, check := feature.Hash([]byte(name))
		fmt.Println(name, feature.ID(key), feature.Shard(key, 64), feature.IsLong(check), feature.Key(feature.ID(key)) == key)
	}
	// Output:
	// upon -7672916667307181864 5 false true
	// constitutionality 3972910377735633441 45 true true
}
