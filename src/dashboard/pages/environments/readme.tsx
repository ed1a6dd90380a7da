import { useEffect, useState } from "preact/hooks";
import { wholeOf } from "../../api/ask.ts";
import { hubPath } from "../../api/environment-paths.ts";
import type { Problem } from "../../api/problem.ts";
import { useDashboard } from "../../context.ts";
import { Failure } from "../../design/notice.tsx";
import { Markdown } from "../../design/text/markdown/markdown.tsx";

interface ReadmeProps {
  readonly reference: string;
  readonly version: string;
}

/** What whoever published a version wrote for those who look at it, which is as hostile as they are. */
export function Readme({ reference, version }: ReadmeProps) {
  const { api } = useDashboard();
  const [looks, setLooks] = useState(0);
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `looks` says that it is asked again
  useEffect(() => {
    const abort = new AbortController();
    const load = async (): Promise<void> => {
      const opened = await api.open(`${hubPath(reference, version)}/readme`, { headers: { accept: "text/markdown" }, signal: abort.signal });
      const whole = opened.ok ? await wholeOf(opened.value) : opened;
      if (abort.signal.aborted) return;
      setProblem(whole.ok ? null : whole.problem);
      setText(whole.ok ? new TextDecoder().decode(whole.value) : null);
    };
    // Given up: the page is left, or shows another version.
    load().catch(() => undefined);
    return () => abort.abort();
  }, [api, reference, version, looks]);
  return (
    <section aria-label="README">
      <h2>README</h2>
      {problem === null ? null : <Failure problem={problem} again={() => setLooks(looks + 1)} />}
      {text === null && problem === null ? <p role="status">Loading the README…</p> : null}
      {text === null ? null : (
        <div class="readme">
          <Markdown text={text} />
        </div>
      )}
    </section>
  );
}
