package model

import "github.com/sparsenb/sparsenb/transforms/kernel"

// Columns returns the features of all decisions for which keep is true, sorted by bytes; nil keeps all. The values of a row are
// those that the model uses: 1 for each feature if only its presence counts.
func (m *Model) Columns(keep func(Decision) bool) *kernel.Columns {
	columns := m.NewPredictor(keep).columns
	if !m.presence {
		return columns
	}
	config := m.config
	config.Weights = kernel.Weights{Scheme: kernel.Binary}
	columns, err := kernel.NewColumns(config, columns.Names())
	if err != nil { // New has checked all names
		panic("model.Columns: " + err.Error())
	}
	return columns
}
