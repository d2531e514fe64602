package model

import "github.com/sparsenb/sparsenb/io/modelio"

// SHA256 returns the checksum of the manifest of the run, which identifies the model; "" if it is of [New].
func (m *Model) SHA256() string { panic("to be merged") }

// Manifest returns the manifest of the run; zero if the model is of [New].
func (m *Model) Manifest() modelio.Manifest { panic("to be merged") }
