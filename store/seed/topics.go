package seed

var topics = []topic{
	{
		name:   "sourdough",
		things: []string{"a lively starter", "rye flour", "the cast-iron pot", "a wet dough", "a long, cold proof", "the kitchen scale", "a sharp blade", "the first slice", "salt", "the old baking stone"},
		doings: []string{"folding the dough", "feeding the starter", "waiting", "shaping loaves", "baking before breakfast"},
		places: []string{"in a tiny kitchen", "at the village bakery", "in a wood-fired oven", "at my sister’s", "in the school kitchen"},
	},
	{
		name:   "bicycle touring",
		things: []string{"a steel frame", "the granny gear", "two panniers", "a paper map", "the third flat tyre", "dry socks", "a dynamo light", "the long way round", "a leather saddle", "bananas"},
		doings: []string{"climbing slowly", "camping wild", "mending tubes", "riding along rivers", "getting lost"},
		places: []string{"along the Danube", "in the Cévennes", "on gravel", "across the Øresund", "between Graz and Trieste"},
	},
	{
		name:   "vegetable gardening",
		things: []string{"compost", "a row of beans", "the tomatoes", "slugs", "a south wall", "seeds from the neighbour", "the watering can", "courgettes", "mulch", "an old apple tree"},
		doings: []string{"digging", "sowing too early", "watering at night", "giving courgettes away", "reading seed catalogues"},
		places: []string{"on a balcony", "in the allotment", "behind the garage", "in heavy clay", "on the roof"},
	},
	{
		name:   "film photography",
		things: []string{"an old rangefinder", "expired film", "a 50 mm lens", "the darkroom", "grain", "a light meter", "the contact sheet", "black and white", "a broken shutter", "the last frame"},
		doings: []string{"developing in the bathroom", "waiting for the light", "printing small", "scanning", "asking strangers"},
		places: []string{"at the harbour", "in fog", "on the night train", "in Lisbon", "at a wedding"},
	},
	{
		name:   "data modelling",
		things: []string{"the partition key", "a secondary index", "one hot partition", "the change feed", "a counter", "a join that is not there", "idempotency", "an event log", "eventual consistency", "a query that nobody asked for"},
		doings: []string{"denormalising", "reading query plans", "deleting columns", "writing migrations", "measuring first"},
		places: []string{"in production", "on a laptop", "at three in the morning", "in a spreadsheet", "on the whiteboard"},
	},
	{
		name:   "learning the cello",
		things: []string{"the C string", "a cheap bow", "rosin", "the first Bach suite", "a patient teacher", "the metronome", "open strings", "vibrato", "my neighbour’s ceiling", "a borrowed instrument"},
		doings: []string{"practising scales", "playing quietly", "counting aloud", "listening to recordings", "tuning"},
		places: []string{"in the living room", "in the church hall", "with an amateur orchestra", "in the cellar", "on stage"},
	},
	{
		name:   "mountain hiking",
		things: []string{"a light rucksack", "the weather report", "good boots", "a thermos of tea", "the wrong turn", "the hut’s apple cake", "a via ferrata", "snow in June", "hiking poles", "the marmots"},
		doings: []string{"starting before dawn", "walking slowly", "turning back", "sleeping in huts", "reading contour lines"},
		places: []string{"above the tree line", "in the Dolomites", "on the ridge", "in the Tatra mountains", "near the glacier"},
	},
	{
		name:   "coffee at home",
		things: []string{"a hand grinder", "fresh beans", "the water", "a moka pot", "the third cup", "a paper filter", "oat milk", "light roasts", "the bitter end", "a gooseneck kettle"},
		doings: []string{"grinding", "tasting side by side", "descaling", "pouring in circles", "not talking before nine"},
		places: []string{"in the office", "on a camping stove", "at the corner café", "in Addis Ababa", "at my desk"},
	},
	{
		name:   "science fiction",
		things: []string{"a generation ship", "the unreliable narrator", "a paperback from 1974", "the slow middle part", "an alien grammar", "the translation", "a map on the first page", "time travel", "the sequel", "a quiet ending"},
		doings: []string{"rereading", "skipping the battles", "arguing about endings", "reading aloud", "browsing second-hand shops"},
		places: []string{"on the tram", "at the library", "in the bathtub", "under a blanket", "at a convention"},
	},
	{
		name:   "watching birds",
		things: []string{"the kingfisher", "a pair of swifts", "old binoculars", "the feeder", "a field guide", "the dawn chorus", "a goldcrest", "the wrong hat", "migrating cranes", "a notebook"},
		doings: []string{"sitting still", "counting gulls", "learning songs by heart", "getting up early", "cleaning nest boxes"},
		places: []string{"at the gravel pit", "on the Wadden Sea", "in the city park", "from the kitchen window", "in the reeds"},
	},
	{
		name:   "woodworking",
		things: []string{"a sharp chisel", "a hand plane", "oak", "the workbench", "a dovetail", "too much glue", "linseed oil", "a crooked board", "the marking gauge", "scrap wood"},
		doings: []string{"sharpening", "measuring twice", "sanding", "sweeping the floor", "making a stool"},
		places: []string{"in a shared workshop", "on the balcony", "in my uncle’s barn", "in the garage", "at evening class"},
	},
	{
		name:   "board games",
		things: []string{"the rule book", "a wooden meeple", "the expansion", "a bad dice roll", "the longest road", "two hours of setup", "a co-operative game", "the score sheet", "house rules", "a stolen sheep"},
		doings: []string{"explaining rules", "losing gracefully", "bluffing", "sorting cardboard", "playing until midnight"},
		places: []string{"at the kitchen table", "in a hostel", "at the games café", "with eight people", "by candlelight"},
	},
	{
		name:   "swimming in lakes",
		things: []string{"cold water", "a wool hat", "the wooden jetty", "a thermometer", "goose fat", "the swans", "a dry robe", "the first frost", "hot tea", "an orange buoy"},
		doings: []string{"breathing out", "counting strokes", "swimming before work", "warming up again", "persuading friends"},
		places: []string{"in the quarry lake", "in February", "at Lake Constance", "off the pier", "under the stars"},
	},
	{
		name:   "repairing radios",
		things: []string{"a leaking capacitor", "the soldering iron", "a valve from 1956", "the schematic", "contact spray", "shortwave", "a humming transformer", "the tuning dial", "an oscilloscope", "the smell of dust"},
		doings: []string{"desoldering", "listening for stations", "reading resistor codes", "polishing Bakelite", "replacing fuses"},
		places: []string{"in the attic", "at the repair café", "at the flea market", "on the bench", "at the amateur radio club"},
	},
}
