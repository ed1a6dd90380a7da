import type { UnknownKey } from "../../metrics/one-run/row-keys.ts";
import { singleLine } from "../text/printable.ts";

/** Why nothing is grouped as was asked. `flag`: as it was typed. */
export const unknownKeyText = (flag: string, { key }: UnknownKey): string => `${flag} ${singleLine(key)}: no row has it, in itself or in its info`;

/** What could have been asked for. */
export const knownKeysText = ({ known }: UnknownKey): string =>
  known.length === 0
    ? "Rows have no field with a text or a number."
    : `Rows have ${known.map(singleLine).join(", ")}; dots lead into objects, such as timing.total.`;
