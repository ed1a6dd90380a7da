import { useId } from "preact/hooks";

interface TextFieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: "text" | "password";
  readonly isNeeded?: boolean;
  readonly placeholder?: string;
  readonly maxLength?: number;
}

/** A line of text in a form. `password`: not shown while it is typed, and offered to nobody to be kept. */
export function TextField({ name, label, hint, type = "text", isNeeded = false, placeholder, maxLength }: TextFieldProps) {
  const id = useId();
  const shared = {
    ...{ id, name, required: isNeeded, placeholder, maxLength, spellcheck: false },
    "aria-describedby": hint === undefined ? undefined : `${id}-hint`,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {type === "password" ? <input type="password" autoComplete="new-password" {...shared} /> : <input type="text" autoComplete="off" {...shared} />}
      {hint === undefined ? null : <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}
