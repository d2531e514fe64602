package linear

import "math"

// score is w·x + b.
func score(parameters []float64, columns []int32, values []float64) float64 {
	s := parameters[len(parameters)-1]
	for j, column := range columns {
		s += parameters[column] * values[j]
	}
	return s
}

// addGradient adds the derivative by a score to the gradient.
func addGradient(gradient []float64, d float64, columns []int32, values []float64) {
	for j, column := range columns {
		gradient[column] += d * values[j]
	}
	gradient[len(gradient)-1] += d
}

// penalty is half of the squared norm of parameters, and sets the gradient to its derivative.
func penalty(parameters, gradient []float64) (sum float64) {
	for i, w := range parameters {
		sum += w * w
		gradient[i] = w
	}
	return sum / 2
}

// binaryLogistic is the logistic regression of class 1 over class 0.
type binaryLogistic struct {
	rows *Rows
	c    float64
}

func (*binaryLogistic) penalized() bool { return false }

func (f *binaryLogistic) evaluate(parameters, gradient []float64) float64 {
	width := f.rows.Columns
	sum := penalty(parameters[:width], gradient[:width])
	gradient[width] = 0
	for i, n := range f.rows.count {
		columns, values := f.rows.row(i)
		s := score(parameters, columns, values)
		if f.rows.class[i] == 0 {
			s = -s
		}
		// log(1 + exp(-s)) and its derivative, which neither overflow nor cancel.
		e := math.Exp(-math.Abs(s))
		loss, wrong := math.Log1p(e), e/(1+e) // the probability of the other class, if s > 0
		if s < 0 {
			loss, wrong = loss-s, 1/(1+e)
		}
		sum += f.c * n * loss
		if f.rows.class[i] == 1 {
			wrong = -wrong
		}
		addGradient(gradient, f.c*n*wrong, columns, values)
	}
	return sum
}

// softmax is the logistic regression of several classes.
type softmax struct {
	rows   *Rows
	c      float64
	scores []float64
}

func (*softmax) penalized() bool { return false }

func (f *softmax) evaluate(parameters, gradient []float64) (sum float64) {
	width := f.rows.Columns + 1
	for at := 0; at < len(parameters); at += width {
		sum += penalty(parameters[at:at+width-1], gradient[at:at+width-1])
		gradient[at+width-1] = 0
	}
	for i, n := range f.rows.count {
		columns, values := f.rows.row(i)
		largest := math.Inf(-1)
		for class := range f.scores {
			s := score(parameters[class*width:(class+1)*width], columns, values)
			f.scores[class], largest = s, max(largest, s)
		}
		own, total := f.scores[f.rows.class[i]]-largest, 0.0
		for class, s := range f.scores {
			f.scores[class] = math.Exp(s - largest)
			total += f.scores[class]
		}
		sum += f.c * n * (math.Log(total) - own)
		for class, e := range f.scores {
			p := e / total
			if int32(class) == f.rows.class[i] {
				p--
			}
			addGradient(gradient[class*width:(class+1)*width], f.c*n*p, columns, values)
		}
	}
	return sum
}

// squaredHinge is the support vector machine of a class over the others.
type squaredHinge struct {
	rows     *Rows
	c        float64
	positive int32
}

func (*squaredHinge) penalized() bool { return true }

func (f *squaredHinge) evaluate(parameters, gradient []float64) float64 {
	sum := penalty(parameters, gradient)
	for i, n := range f.rows.count {
		columns, values := f.rows.row(i)
		sign := -1.0
		if f.rows.class[i] == f.positive {
			sign = 1
		}
		if slack := 1 - sign*score(parameters, columns, values); slack > 0 {
			sum += f.c * n * slack * slack
			addGradient(gradient, -2*f.c*n*slack*sign, columns, values)
		}
	}
	return sum
}
