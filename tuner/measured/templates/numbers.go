
var evaltuneValues = evaltuneRead()

func evaltuneRead() map[int]float64 {
	found := map[int]float64{}
	in, problem := evaltuneOs.Open(evaltuneOs.Getenv("EVALTUNE_VALUES"))
	if problem != nil {
		return found
	}
	defer in.Close()
	for {
		var k int
		var v float64
		if _, problem := evaltuneFmt.Fscan(in, &k, &v); problem != nil {
			return found
		}
		found[k] = v
	}
}

func evaltuneN(k int, v int) int {
	if found, known := evaltuneValues[k]; known {
		return int(found)
	}
	return v
}

func evaltuneF(k int, v float64) float64 {
	if found, known := evaltuneValues[k]; known {
		return found
	}
	return v
}
