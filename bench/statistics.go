package main

import (
	"math"
	"slices"
)

// median returns the median of values, or NaN if there are none. It sorts them.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}

// quantile returns the smallest value that at least a part q of the sorted values do not exceed
// (the nearest rank). q is from 0 to 1; the zero value is returned if there are no values.
func quantile[T any](sorted []T, q float64) (value T) {
	if len(sorted) == 0 {
		return value
	}
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// medianRatio returns the median of the ratios of values of the same round.
func medianRatio(values, others []float64) float64 {
	ratios := make([]float64, min(len(values), len(others)))
	for i := range ratios {
		ratios[i] = values[i] / others[i]
	}
	return median(ratios)
}
