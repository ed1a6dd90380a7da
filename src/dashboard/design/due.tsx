import { agoText } from "./moment.tsx";
import { localText, utcText } from "./times.ts";

/** A moment to come, in the zone of whoever looks and in UTC. `now`: Unix milliseconds. */
export const Due = ({ at, now }: { readonly at: string; readonly now: number }) => (
  <time dateTime={at}>
    {localText(at)} <span class="count">{agoText(at, now)}</span>
    <small>{utcText(at)}</small>
  </time>
);
