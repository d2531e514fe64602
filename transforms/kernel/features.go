package kernel

// EachFeature visits the features of a text, as a counter of this configuration would count them, in the order of the text
// and, for n-grams, by their number of units first. The bytes are valid during the visit only.
func EachFeature(config Config, text []byte, visit func(name []byte)) {
	config.visit, config.MemoryBytes, config.Distinct, config.Admit = visit, nil, nil, nil
	NewCounter(config).Add([]byte("text"), text)
}

// CleanLabel returns a label as counts have it: invalid UTF-8 is replaced as in texts.
func CleanLabel(label []byte) string {
	var w Words
	return string(w.replace(label))
}
