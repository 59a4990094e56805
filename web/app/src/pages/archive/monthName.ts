const format = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

// monthName returns the name of a month in the API's form, such as “January 2026” for “2026-01”. Another
// text stays as it is.
export function monthName(month: string) {
  const start = Date.parse(`${month}-01T00:00:00Z`);
  return Number.isNaN(start) ? month : format.format(start);
}
