// Small charts without axes: a line, and bars.

const width = 96;
const height = 30;

/** A line of values, with a filled area for amounts. */
export function SparkLine({
  values,
  tone,
  area = false,
}: {
  readonly values: readonly number[];
  readonly tone: string;
  readonly area?: boolean;
}) {
  if (values.length < 2) return null;
  const most = Math.max(1, ...values);
  const step = width / (values.length - 1);
  const points = values.map(
    (value, index) => `${index * step},${height - 2 - (value / most) * (height - 6)}`,
  );
  const line = `M${points.join("L")}`;
  return (
    <svg className="spark" preserveAspectRatio="none" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {area && <path d={`${line}L${width},${height}L0,${height}Z`} fill={`var(--${tone}-soft)`} />}
      <path d={line} fill="none" stroke={`var(--${tone})`} strokeWidth="1.5" />
    </svg>
  );
}

/** Bars of values. */
export function SparkBars({ values, tone }: { readonly values: readonly number[]; readonly tone: string }) {
  const most = Math.max(1, ...values);
  const step = width / Math.max(1, values.length);
  return (
    <svg className="spark" preserveAspectRatio="none" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <path d={`M0 ${height - 0.5}H${width}`} stroke="var(--line)" />
      {values.map((value, index) => {
        const tall = value === 0 ? 0 : Math.max(3, (value / most) * (height - 4));
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place in time
            key={index}
            x={index * step + step * 0.15}
            y={height - tall}
            width={step * 0.7}
            height={tall}
            rx="1"
            fill={`var(--${tone})`}
          />
        );
      })}
    </svg>
  );
}
