import { agoText } from "./moment.tsx";
import { localText, utcText, zonedText, zoneHere } from "./times.ts";

interface DueProps {
  readonly at: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** Of what is due: the zone that its times are given in. */
  readonly zone: string;
}

/** A moment to come in the zone of whoever looks, in that of what is due, and in UTC; each zone once. */
export function Due({ at, now, zone }: DueProps) {
  const own = zone === zoneHere() || zone === "UTC" ? null : zonedText(at, zone);
  return (
    <time dateTime={at}>
      {localText(at)} <span class="count">{agoText(at, now)}</span>
      {own === null ? null : <small>{own}</small>}
      <small>{utcText(at)}</small>
    </time>
  );
}
