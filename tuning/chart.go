package tuning

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
)

//go:embed chart.svg
var chartFile string

var chartTemplate = template.Must(template.New("chart").Parse(chartFile))

// The chart's measures, in pixels.
const (
	chartWidth, chartHeight         = 640, 400
	chartLeft, chartTop             = 72, 48
	chartRight, chartBottom         = 24, 56
	plotWidth                       = chartWidth - chartLeft - chartRight
	plotHeight                      = chartHeight - chartTop - chartBottom
	chartDot                        = 3.5
	chartTicks                      = 5
	chartMargin, chartFlat  float64 = 0.05, 1e-9 // of the range of figures
)

// Curve is the best mean at each k of a setting, whatever the smoothing, by ascending numbers of features.
func (r Result) Curve(setting int) (points []Scored) {
	s := r.Grid.Settings[setting]
	for k := range s.K {
		best := -1
		for a := range s.Smoothing {
			i := r.Grid.index(Point{setting, a, k})
			if best < 0 || r.better(i, best) {
				best = i
			}
		}
		points = append(points, r.Points[best])
	}
	return points
}

// better reports whether the mean of a point is better than that of another.
func (r Result) better(i, j int) bool {
	a, _ := r.Points[i].Mean(r.Metric)
	b, _ := r.Points[j].Mean(r.Metric)
	if r.Metric == LogLoss {
		return a < b
	}
	return a > b
}

type chartPoint struct {
	X, Y, Low, High float64
	Title           string
	Chosen          bool
}

type chartLine struct {
	Name, Points string
	Dots         []chartPoint
	Number       int
	Y            int
}

type chartTick struct {
	At   float64
	Text string
}

// WriteChart draws the curves of all settings as SVG: the metric against k, on a logarithmic axis, with one standard error above
// and below.
func (r Result) WriteChart(w io.Writer) error {
	low, high, least, most := math.Inf(1), math.Inf(-1), math.Inf(1), 0.0
	for setting := range r.Grid.Settings {
		for _, s := range r.Curve(setting) {
			mean, e := s.Mean(r.Metric)
			low, high = min(low, mean-e), max(high, mean+e)
			least, most = min(least, s.MeanK()), max(most, s.MeanK())
		}
	}
	margin := chartMargin*(high-low) + chartFlat
	low, high = low-margin, high+margin
	x := func(k float64) float64 {
		if least == most {
			return chartLeft + plotWidth/2
		}
		return chartLeft + plotWidth*math.Log(k/least)/math.Log(most/least)
	}
	y := func(figure float64) float64 { return chartTop + plotHeight*(high-figure)/(high-low) }
	chosen := r.Points[r.Chosen]
	var lines []chartLine
	for setting := range r.Grid.Settings {
		curve := r.Curve(setting)
		line := chartLine{Name: NameOf(curve[0]), Number: setting % chartColors, Y: chartHeight - chartBottom - 16*(len(r.Grid.Settings)-setting) - 8}
		var points []string
		for _, s := range curve {
			mean, e := s.Mean(r.Metric)
			p := chartPoint{x(s.MeanK()), y(mean), y(mean - e), y(mean + e), fmt.Sprintf("k = %s, smoothing %v: %s ± %s", s.Requested(), s.Alpha(), r.Metric.Format(mean), r.Metric.Format(e)), s.Point == chosen.Point}
			line.Dots = append(line.Dots, p)
			points = append(points, fmt.Sprintf("%.1f,%.1f", p.X, p.Y))
		}
		line.Points = strings.Join(points, " ")
		lines = append(lines, line)
	}
	var xs, ys []chartTick
	for decade := math.Pow(10, math.Ceil(math.Log10(least)-chartFlat)); decade <= most*(1+chartFlat); decade *= 10 {
		xs = append(xs, chartTick{x(decade), fmt.Sprintf("%.0f", decade)})
	}
	for i := range chartTicks {
		figure := low + (high-low)*(float64(i)+0.5)/chartTicks
		ys = append(ys, chartTick{y(figure), r.Metric.Format(figure)})
	}
	mean, _ := chosen.Mean(r.Metric)
	return chartTemplate.Execute(w, map[string]any{
		"Width": chartWidth, "Height": chartHeight, "Left": chartLeft, "Right": chartWidth - chartRight, "Top": chartTop, "Bottom": chartHeight - chartBottom,
		"Middle": chartLeft + plotWidth/2, "TickY": chartHeight - chartBottom + 18, "LabelY": chartHeight - 16,
		"Title":  fmt.Sprintf("%s of %d folds; chosen: k = %s, smoothing %v, %s", r.Metric, len(chosen.Selected), chosen.Requested(), chosen.Alpha(), r.Metric.Format(mean)),
		"Lines":  lines,
		"XTicks": xs, "YTicks": ys, "Dot": chartDot,
	})
}

// chartColors is the number of colors in chart.svg.
const chartColors = 6

// NameOf names the setting of a point.
func NameOf(s Scored) string {
	name := s.Settings.Model.String()
	if s.Settings.Weights != "" && s.Settings.Weights != "count" && s.Settings.Model.String() == "multinomial" {
		name += ", " + s.Settings.Weights
	}
	if min := s.Settings.Pruning.MinDF.Text; min != "" {
		name += ", min_df " + min
	}
	return name
}
