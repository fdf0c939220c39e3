const dayMs = 86_400_000;

/** Days before the end of support in which a cloud is yellow. */
export const endingDays = 60;

/** The part of the time line before today, and the days after it that it shows. */
const pastDays = 90;
const futureDays = 365;

/** Calendar days from now until an instant; negative if it is past. */
export const daysUntil = (at: string, nowMs: number): number =>
  Math.floor(Date.parse(at) / dayMs) - Math.floor(nowMs / dayMs);

/** The place of a day on the time line, in percent from its start. What is farther away stands at the edge. */
export const placeOf = (days: number): number =>
  (100 * (Math.min(Math.max(days, -pastDays), futureDays) + pastDays)) / (pastDays + futureDays);
