import { useDashboard } from "../context.ts";
import { Dialog } from "../design/dialog.tsx";

const NAMES: Readonly<Record<string, string>> = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", " ": "Space" };
const keyName = (key: string): string => NAMES[key] ?? key;

/** Every key of the page that is shown. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const { shortcuts } = useDashboard();
  return (
    <Dialog title="Keys" onClose={onClose}>
      <table class="keys">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Does</th>
          </tr>
        </thead>
        <tbody>
          {shortcuts.all.value.map(({ keys, does }) => (
            <tr key={does}>
              <td>
                {keys.map((sequence) => (
                  <span key={sequence} class="key-sequence">
                    {(sequence === " " ? [sequence] : sequence.split(" ")).map((key) => (
                      <kbd key={key}>{keyName(key)}</kbd>
                    ))}
                  </span>
                ))}
              </td>
              <td>{does}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
