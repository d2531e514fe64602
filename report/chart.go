package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// MaxCharts is how many charts a summary shows.
const MaxCharts = 3

// The size of a chart, without its axes. Its lines have at most 80 columns.
const (
	chartColumns = 56
	chartRows    = 10
	maxBar       = 3
)

// bars are the parts of a character cell that a bar can fill, in eighths.
var bars = []rune(" ▁▂▃▄▅▆▇█")

// Chart returns lines that show the gain and its upper bound at each k, with a logarithmic axis of k. There are none if the
// path has only one k, or if all gains and bounds are 0.
func (p Path) Chart() []string {
	var last, least int64 = 0, math.MaxInt64
	top := 0.0
	for _, row := range p.Rows {
		last, least, top = max(last, row.K), min(least, row.K), max(top, row.Gain, row.UpperBoundGain)
	}
	if least < 1 || least >= last || !(top > 0) || math.IsInf(top, 0) { // least < 1 or no number: a damaged file
		return nil
	}
	c := newChart(p, last, top)
	lines := []string{c.margin("gain", ' ')}
	for row := chartRows - 1; row >= 0; row-- {
		label, axis := "", '│'
		if 2*(row+1)%chartRows == 0 { // the upper edge is all or half of the axis
			label, axis = axisLabel(top*float64(row+1)/chartRows), '┤'
		}
		lines = append(lines, c.margin(label, axis)+string(c.cells[row]))
	}
	lines = append(lines, c.margin("0", '└')+string(c.axis), c.margin("", ' ')+string(c.labels)+" k (log)")
	if strings.ContainsRune(string(c.marks), '▲') {
		lines = append(lines, c.margin("", ' ')+string(c.marks))
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return append(append(lines, ""), c.legend(p)...)
}

// chart is a grid of characters, and its axis of k with labels below.
type chart struct {
	cells    [chartRows][]rune // from the bottom
	axis     []rune
	marks    []rune
	labels   []rune
	width    int // of the labels on the left
	bar      int // columns of a bar
	last     int64
	showsGap bool
}

func newChart(p Path, last int64, top float64) *chart {
	c := &chart{last: last}
	for row := range c.cells {
		c.cells[row] = blank(chartColumns, ' ')
	}
	c.axis, c.marks, c.labels = blank(chartColumns, '─'), blank(chartColumns, ' '), blank(chartColumns, ' ')
	c.width = max(len("gain"), len(axisLabel(top)), len(axisLabel(top/2)))
	// The bars of k and 2k leave a column between them.
	c.bar = min(max(int(math.Log(2)/math.Log(float64(last))*chartColumns)-1, 1), maxBar)
	for _, row := range p.Rows {
		c.drawBar(c.column(row.K), row.Gain/top, row.UpperBoundGain/top)
		if slices.Contains(p.Selected, row.K) {
			c.marks[c.center(row.K)] = '▲'
		}
	}
	c.label(last)
	for k := int64(1); k < last; k *= 10 {
		c.label(k)
		if k > math.MaxInt64/10 {
			break
		}
	}
	return c
}

func blank(n int, r rune) []rune { return []rune(strings.Repeat(string(r), n)) }

// column is the first column of the bar of k.
func (c *chart) column(k int64) int {
	return int(math.Round(math.Log(float64(k)) / math.Log(float64(c.last)) * float64(chartColumns-c.bar)))
}

func (c *chart) center(k int64) int { return c.column(k) + (c.bar-1)/2 }

// drawBar draws a gain and its upper bound, as shares of the height.
func (c *chart) drawBar(column int, gain, bound float64) {
	eighths, shaded := int(math.Round(gain*chartRows*8)), int(math.Round(bound*chartRows))
	if gain > 0 {
		eighths = max(eighths, 1)
	}
	for row := range c.cells {
		cell := bars[min(max(eighths-8*row, 0), 8)]
		if cell == ' ' && row < shaded {
			cell, c.showsGap = '░', true
		}
		if column > 0 {
			c.cells[row][column-1] = ' ' // the end of a bar that is too near
		}
		for i := range c.bar {
			c.cells[row][column+i] = cell
		}
	}
}

// label writes k below the axis if there is room for it.
func (c *chart) label(k int64) {
	text := []rune(humanize.Comma(k))
	start := min(max(c.center(k)-(len(text)-1)/2, 0), chartColumns-len(text))
	around := c.labels[max(start-1, 0):min(start+len(text)+1, chartColumns)]
	if slices.ContainsFunc(around, func(r rune) bool { return r != ' ' }) {
		return
	}
	copy(c.labels[start:], text)
	c.axis[c.center(k)] = '┬'
}

// margin is what a line has on the left of the cells.
func (c *chart) margin(label string, axis rune) string {
	return fmt.Sprintf("  %*s %c", c.width, label, axis)
}

// legend explains the signs of a chart.
func (c *chart) legend(p Path) []string {
	legend := []string{"  █ gain"}
	switch {
	case c.showsGap:
		legend[0] += "   ░ between the gain and its upper bound"
	case slices.ContainsFunc(p.Rows, func(r modelio.PathRow) bool { return !IsRounding(r.Gap, r.UpperBoundGain) }):
		legend[0] += " (the upper bound is too near to be seen)"
	default:
		legend[0] += " (equal to the upper bound)"
	}
	if shares := p.shares(); shares != "" {
		legend = append(legend, "  ▲ "+shares)
	}
	return legend
}

// shares says which part of the highest gain the models have.
func (p Path) shares() string {
	const columns = 75
	highest, text := 0.0, ""
	for _, row := range p.Rows {
		highest = max(highest, row.Gain)
	}
	for _, row := range p.Rows {
		if highest == 0 || !slices.Contains(p.Selected, row.K) {
			continue
		}
		next := fmt.Sprintf("k = %s: %s", humanize.Comma(row.K), percentage(max(row.Gain, 0)/highest))
		switch {
		case text == "":
			text = next + " of the highest gain"
		case len(text)+len("; ")+len(next)+len("; …") > columns:
			return text + "; …"
		default:
			text += "; " + next
		}
	}
	return text
}

// axisLabel is a gain in a few characters.
func axisLabel(gain float64) string {
	switch {
	case gain >= 1e8:
		return strconv.FormatFloat(gain, 'g', 4, 64)
	case gain >= 100:
		return humanize.Comma(int64(math.Round(gain)))
	}
	return Gain(gain)
}
