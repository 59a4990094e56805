package api

// place is a place among the operations in flight. An operation holds it while it is executed.
type place struct {
	places chan struct{} // one element for each place that is held
	held   bool
}

// take takes a place if one is free.
func (p *place) take() bool {
	select {
	case p.places <- struct{}{}:
		p.held = true
	default:
	}
	return p.held
}

// leave gives the place back, if it is held.
func (p *place) leave() {
	if p.held {
		<-p.places
		p.held = false
	}
}
