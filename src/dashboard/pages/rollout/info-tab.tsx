import { singleLine } from "../../../report/text/printable.ts";
import type { RolloutOutline } from "../../api/answers.ts";
import { useSomeOf } from "../../design/list/some-of.tsx";
import { OwnFields } from "./own-fields.tsx";
import type { RolloutStore } from "./rollout-store.ts";
import { isOfJudges, isOwnField } from "./row-facts.ts";

interface InfoTabProps {
  readonly outline: RolloutOutline;
  readonly store: RolloutStore;
  readonly raw: boolean;
}

const OF_THE_EXAMPLE: ReadonlySet<string> = new Set(["info", "answer", "task", "example_id", "id", "src_id"]);

/** What the data set says of the example, what the environment kept of the rollout, and the tools that it was given. */
export const InfoTab = ({ outline, store, raw }: InfoTabProps) => (
  <>
    <OwnFields
      outline={outline}
      store={store}
      raw={raw}
      title="Example"
      empty="The row says nothing of its example."
      wants={(name) => OF_THE_EXAMPLE.has(name)}
    />
    <OwnFields
      outline={outline}
      store={store}
      raw={raw}
      title="State columns"
      empty="None. A run with --state-columns keeps what it names."
      wants={(name) => isOwnField(name) && !OF_THE_EXAMPLE.has(name) && !isOfJudges(name)}
    />
    {outline.tools.length === 0 ? null : <Tools tools={outline.tools} />}
  </>
);

function Tools({ tools }: Pick<RolloutOutline, "tools">) {
  const [shown, more] = useSomeOf(tools, "tools");
  return (
    <section>
      <h2>Tools</h2>
      <ul>
        {shown.map((tool) => (
          <li key={tool}>
            <code>{singleLine(tool)}</code>
          </li>
        ))}
      </ul>
      {more}
    </section>
  );
}
