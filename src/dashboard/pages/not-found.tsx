import { RUNS } from "../address/links.ts";
import { useDashboard } from "../context.ts";
import { Notice } from "../design/notice.tsx";
import { PageTitle } from "../frame/page-title.tsx";

export function NotFound() {
  const { link } = useDashboard();
  return (
    <>
      <PageTitle title="Not found" />
      <Notice role="status" tone="plain" title="There is no page at this address.">
        <p>
          <a href={link(RUNS)}>Runs</a>
        </p>
      </Notice>
    </>
  );
}
