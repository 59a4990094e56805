const format = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

// DateTime shows a timestamp of the API in the reader's time zone.
export function DateTime({ value }: { value: string }) {
  return <time dateTime={value}>{format.format(new Date(value))}</time>;
}
