import { singleLine } from "../../../report/text/printable.ts";
import { isObject } from "../../../cells/row-messages.ts";
import { RawText } from "../text/raw-text.tsx";

interface CallArgumentsProps {
  /** As the model wrote them: JSON, or what it took for that. */
  readonly text: string;
  readonly raw: boolean;
}

/** A longer text is shown as it is, and one with more names. */
const MOST_CHARACTERS = 200_000;
const MOST_NAMES = 50;

/** What a tool is called with: each argument by its name, and texts with the lines that they have. */
export function CallArguments({ text, raw }: CallArgumentsProps) {
  const named = raw ? null : argumentsIn(text);
  if (named === null) return <RawText text={text} />;
  return (
    <dl class="call-arguments">
      {named.map(([name, value]) => (
        <div key={name}>
          <dt>{singleLine(name)}</dt>
          <dd>
            <RawText text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Null for what is no object with some names. */
function argumentsIn(text: string): readonly (readonly [name: string, value: string])[] | null {
  if (text.length > MOST_CHARACTERS || !/^\s*\{/.test(text)) return null;
  const value = parsed(text);
  const named = isObject(value) ? Object.entries(value) : [];
  if (named.length === 0 || named.length > MOST_NAMES) return null;
  return named.map(([name, each]) => [name, typeof each === "string" ? each : JSON.stringify(each, undefined, 2)]);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
