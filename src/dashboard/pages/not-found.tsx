import { RUNS } from "../address/links.ts";
import { useDashboard } from "../context.ts";
import { Notice } from "../design/notice.tsx";
import { PageTitle } from "../frame/page-title.tsx";

export function NotFound() {
  const { link, viewer } = useDashboard();
  return (
    <>
      <PageTitle title="Not found" />
      <Notice role="status" tone="plain" title="There is no page at this address.">
        {viewer.folders === "" ? null : (
          <p>
            Of results folders there are runs, samples, rollouts and comparisons. A service has more: <code>npx edgewise serve</code>
          </p>
        )}
        <p>
          <a href={link(RUNS)}>Runs</a>
        </p>
      </Notice>
    </>
  );
}
