// Adults read about 240 words a minute, and many read slower on a screen: 1,000 characters are some 180 words.
const charactersPerMinute = 1000;

// readingTime returns how long a text of so many characters takes to read, such as “3 min read”.
export const readingTime = (characters: number) => `${Math.max(1, Math.round(characters / charactersPerMinute))} min read`;
