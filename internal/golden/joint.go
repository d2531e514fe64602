package golden

import "path/filepath"

// Joint is a case of joint.json: one set of features for several classes.
type Joint struct {
	ID      string        `json:"id"`
	Classes int           `json:"classes"`
	Counts  [][]float64   `json:"counts"` // by feature, then class
	Results []JointResult `json:"results"`
}

// JointResult is the answer for one k.
type JointResult struct {
	K           int64   `json:"k"`
	PhiGain     float64 `json:"phi_gain"`
	PhiSupports [][]int `json:"phi_supports"`
	PsiGainLow  float64 `json:"psi_gain_low"`
	PsiGainHigh float64 `json:"psi_gain_high"`
}

// LoadJoint reads joint.json.
func LoadJoint(dir string) ([]Joint, error) {
	var file struct{ Cases []Joint }
	if err := load(filepath.Join(dir, "joint.json"), &file); err != nil {
		return nil, err
	}
	return file.Cases, nil
}
