import { useRef, useState } from "preact/hooks";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { givenCount } from "./changes.ts";
import { DraftField, type DraftProps } from "./draft-field.tsx";
import { GROUP_TITLES, isLookedFor, type OptionField } from "./form-options.ts";

interface FurtherOptionsProps extends DraftProps {
  readonly fields: readonly OptionField[];
}

/** Every other option, folded in groups, or those that somebody looks for. */
export function FurtherOptions({ fields, ...props }: FurtherOptionsProps) {
  const [search, setSearch] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const focus = (): boolean => {
    input.current?.select();
    return input.current !== null;
  };
  useShortcuts([{ keys: ["/"], does: "Look for an option", run: focus }]);
  const looked = search.trim() !== "";
  const found = looked ? fields.filter((field) => isLookedFor(field, search.trim())) : fields;
  const groups = Object.entries(GROUP_TITLES).flatMap(([group, title]) => {
    const ofGroup = found.filter(({ option }) => option.group === group);
    return ofGroup.length === 0 ? [] : [{ group, title, ofGroup }];
  });
  return (
    <section aria-label="Further options">
      <h2>Further options</h2>
      <search class="filters">
        <label class="field">
          <span>Look for an option</span>
          <input
            ref={input}
            type="search"
            value={search}
            placeholder="Its name, or a word of its help"
            title="Look for an option (/)"
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
            onKeyDown={({ key, currentTarget }) => {
              if (key === "Escape") currentTarget.blur();
            }}
          />
        </label>
      </search>
      <p class="count" role="status">
        {looked ? `${found.length} ${found.length === 1 ? "option" : "options"} found` : ""}
      </p>
      {groups.map(({ group, title, ofGroup }) => {
        const names = ofGroup.map(({ name }) => name);
        const given = givenCount(props.draft.options, names);
        const isWrong = names.some((name) => props.problems.has(`options.${name}`));
        return (
          <details key={group} open={looked || isWrong}>
            <summary>
              {title}{" "}
              <span class="count">
                {[`${names.length}`, given === 0 ? "" : `${given} given`, isWrong ? "✕ something is wrong" : ""].filter(Boolean).join(", ")}
              </span>
            </summary>
            <div class="form-fields">
              {ofGroup.map((field) => (
                <DraftField key={field.name} {...props} group="options" field={field} />
              ))}
            </div>
          </details>
        );
      })}
    </section>
  );
}
