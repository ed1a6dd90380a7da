import { thousands } from "../../../../report/text/format.ts";
import { bytesText } from "../../../../teams/limits.ts";
import type { CacheAnswer } from "../../../api/settings-answers.ts";
import { Facts } from "../../../design/list/facts.tsx";
import { Part } from "../../../design/list/part.tsx";
import { Looked } from "../../../design/looked.tsx";
import { localText } from "../../../design/times.ts";
import { useLook } from "../../../live/use-look.ts";

/** Answers of models that are kept, so that nobody pays for them again. */
export function CacheTab() {
  const look = useLook<CacheAnswer>("/cache");
  const timeOf = (at: string | null): string | null => (at === null ? null : localText(at));
  return (
    <Part title="Cache of answers">
      <Looked look={look} what="this is as it was">
        {({ data: { answers, bytes, oldest_at, newest_at, expires_at, asking } }) =>
          answers + asking === 0 ? (
            <p role="status">
              No answer is kept. A run that keeps and takes them: <code>npx edgewise eval run … --cache read-write</code>
            </p>
          ) : (
            <Facts
              facts={[
                ["Answers", thousands(answers)],
                ["Stored", bytesText(bytes)],
                ["The oldest of", timeOf(oldest_at)],
                ["The newest of", timeOf(newest_at)],
                ["The next expires", timeOf(expires_at)],
                ["Asked now", asking === 0 ? null : thousands(asking)],
              ]}
            />
          )
        }
      </Looked>
    </Part>
  );
}
