import { useEffect, useState } from 'react';

const day = 24 * 60 * 60;
const steps = [
  { unit: 'day', seconds: day },
  { unit: 'hour', seconds: 60 * 60 },
  { unit: 'minute', seconds: 60 },
] as const;

// In the language of the page.
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const date = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const full = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'short' });

// DateTime shows a timestamp of the API in the reader's time zone: as an age for a week,
// then as a date. Its title has both date and time. Without a timestamp, beside an error, it shows nothing.
export function DateTime({ value }: { value: string | null }) {
  const now = useMinute();
  if (value === null) return null;
  const then = new Date(value);
  return (
    <time dateTime={value} title={full.format(then)}>
      {ageOf((now - then.getTime()) / 1000) ?? date.format(then)}
    </time>
  );
}

function ageOf(seconds: number): string | undefined {
  if (seconds > 7 * day) return undefined;
  const step = steps.find((step) => seconds >= step.seconds);
  return step ? relative.format(-Math.floor(seconds / step.seconds), step.unit) : relative.format(0, 'second');
}

// useMinute returns the time, and renders again each minute.
function useMinute() {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 60_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
