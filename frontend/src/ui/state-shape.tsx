import type { Shape } from "@/lib/states";
import { never } from "@/lib/never";

/** The shape of a state, 12 px, in the colour of the text around it. The word always stands beside it. */
export function StateShape({ shape, size = 12 }: { shape: Shape; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 12 12" aria-hidden="true" style={{ flex: "none" }}>
      {drawing(shape)}
    </svg>
  );
}

const ring = <circle cx="6" cy="6" r="5" fill="none" stroke="currentColor" strokeWidth="1.5" />;

function drawing(shape: Shape) {
  switch (shape) {
    case "dotted":
      return <circle cx="6" cy="6" r="5" fill="none" stroke="currentColor" strokeWidth="1.5" strokeDasharray="1.6 2.3" />;
    case "quarter":
      return <>{ring}<path d="M6 6V1a5 5 0 0 1 5 5z" fill="currentColor" /></>;
    case "half-right":
      return <>{ring}<path d="M6 1a5 5 0 0 1 0 10z" fill="currentColor" /></>;
    case "half-left":
      return <>{ring}<path d="M6 1a5 5 0 0 0 0 10z" fill="currentColor" /></>;
    case "three-quarters":
      return <>{ring}<path d="M6 6V1a5 5 0 1 1-5 5z" fill="currentColor" /></>;
    case "full":
      return <circle cx="6" cy="6" r="5.5" fill="currentColor" />;
    case "loop":
      return (
        <>
          <path d="M10.6 6A4.6 4.6 0 1 1 8.4 2.1" fill="none" stroke="currentColor" strokeWidth="1.6" />
          <path d="M7 0l4.2 1.6L8 4.6z" fill="currentColor" />
        </>
      );
    case "triangle":
      return <path d="M1.5 2.5h9L6 10.5z" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinejoin="round" />;
    case "tick":
      return <path d="M1.5 6.5l3 3.2 6-7" fill="none" stroke="currentColor" strokeWidth="2" />;
    case "cross":
      return <path d="M2 2l8 8M10 2l-8 8" fill="none" stroke="currentColor" strokeWidth="2.2" />;
    case "square":
      return <rect x="1.5" y="1.5" width="9" height="9" fill="currentColor" />;
    case "question":
      return (
        <path d="M3 4a3 3 0 1 1 4.2 2.7C6.3 7.1 6 7.5 6 8.3M6 10v1.5" fill="none" stroke="currentColor" strokeWidth="1.7" />
      );
    default:
      return never(shape);
  }
}
