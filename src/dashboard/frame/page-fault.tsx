import { Component, type ComponentChildren } from "preact";
import { Notice } from "../design/notice.tsx";

interface PageFaultProps {
  readonly children: ComponentChildren;
}

/** What stands in place of a page that cannot be drawn: its script is gone with an older version of the service, or it has a fault. The frame stays. */
export class PageFault extends Component<PageFaultProps, { readonly failed: boolean }> {
  override state = { failed: false };

  static override getDerivedStateFromError(error: unknown): { readonly failed: boolean } {
    console.error(error);
    return { failed: true };
  }

  override render({ children }: PageFaultProps, { failed }: { readonly failed: boolean }) {
    if (!failed) return children;
    return (
      <Notice role="alert" tone="bad" title="This page could not be drawn.">
        <p>The service may have been updated since it was opened.</p>
        <p>
          <button type="button" onClick={() => location.reload()}>
            Load it again
          </button>
        </p>
      </Notice>
    );
  }
}
