package seed

import (
	"fmt"
	"strconv"
	"strings"
)

// Subject returns the subject of the account of user n.
func Subject(seed uint64, users, n int) string { return fmt.Sprintf("seed-%d-%d-%d", seed, users, n) }

// username returns a name that is unique in the set. Each user has another pair of first and
// last name. When all pairs are used, the pairs repeat with a number appended.
func (s *Set) username(n int) string {
	pairs := len(firstNames) * len(lastNames)
	shift := s.stream("names").IntN(pairs)
	pair := (n*pairStep + shift) % pairs
	first, last := firstNames[pair%len(firstNames)], lastNames[pair/len(firstNames)]
	name := one(s.stream("name", n), styles)(first, last)
	if round := n / pairs; round > 0 {
		name += strconv.Itoa(99 + round) // a style may have appended two digits
	}
	return name
}

// pairStep and the number of pairs are coprime, so that n*pairStep reaches every pair before it
// repeats one.
const pairStep = 4099

// styles write a first and a last name as one word. Each marks the end of the first name, so that
// different pairs never produce the same word.
var styles = []func(first, last string) string{
	func(first, last string) string { return strings.ToLower(first + "." + last) },
	func(first, last string) string { return strings.ToLower(first + "_" + last) },
	func(first, last string) string { return strings.ToLower(first + "-" + last) },
	func(first, last string) string { return first + "." + last },
	func(first, last string) string { return first + "_" + last },
	func(first, last string) string {
		return strings.ToLower(first+"."+last) + strconv.Itoa(60+len(first)*len(last)%40)
	},
}

var firstNames = strings.Fields(`
	Aisha Akira Alba Aleksandra Alice Amara Amelie Amir Ana Anders Andrea Anna Anton Arjun Astrid Beatriz Ben Bruno Camille
	Carlos Carmen Chiara Chloe Clara Daniel David Deepa Diego Elena Elif Elin Emeka Emil Emma Erik Esther Fatima Felix Finn
	Francesca Freya Gabriel George Grace Hana Hannah Hugo Ibrahim Ida Ines Ingrid Isabel Ivan Jakub Jamal Jana Javier Jonas
	Joseph Julia Kaito Karin Katarzyna Kenji Kofi Kwame Lars Laura Layla Lea Leila Leo Lina Linh Louis Lucia Luka Magnus
	Malik Marek Maria Marta Mateo Maya Mei Mia Mikael Milan Mina Nadia Naomi Nikolai Nina Noah Nora Olga Oliver Olivia Omar
	Oscar Paolo Paul Pedro Petra Priya Rafael Rania Ravi Rosa Ruth Samira Samuel Sara Sebastian Selin Sofia Stefan Sven
	Tariq Teresa Thea Theo Thomas Tomas Valentina Vera Viktor Wei Yara Yasmin Yuki Yusuf Zara Zofia`)

var lastNames = strings.Fields(`
	Abebe Adeyemi Ahmed Almeida Andersen Bauer Becker Bergman Bianchi Brown Castillo Chen Clarke Costa Cruz Dahl Demir Diaz
	Dubois Eriksson Fernandes Ferrari Fischer Fontaine Garcia Gomez Gruber Gupta Haddad Hansen Hassan Hoffmann Horvat Huang
	Ibsen Ito Ivanova Jansen Johnson Kaya Keller Khan Kim Kimura Klein Kovacs Kowalski Kumar Lambert Larsen Laurent Lee
	Lehmann Lindgren Lopez Maier Marino Martin Mbeki Mehta Mendes Meyer Molina Moreau Moretti Mueller Murphy Mwangi Nakamura
	Navarro Nguyen Nilsson Novak Nowak Okafor Okoye Olsen Ortiz Osei Park Patel Petrov Pham Popescu Ramos Rao Reyes Ricci
	Rossi Roux Ruiz Saito Santos Sato Schmidt Schneider Sharma Silva Singh Smith Sousa Suzuki Svensson Takahashi Tanaka
	Taylor Torres Tran Vargas Vega Virtanen Vogel Wagner Walker Wang Weber Wilson Wolf Wright Yamamoto Yilmaz Zhang Zimmer`)
