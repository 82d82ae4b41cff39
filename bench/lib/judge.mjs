// From rounds to numbers: medians, spread, ratios of the same round, and the verdict on each bar.
const finite = (values) => values.filter(Number.isFinite).sort((a, b) => a - b);

export function quantile(values, p) {
  const sorted = finite(values);
  if (sorted.length === 0) return undefined;
  const at = p * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

/** Quartiles of the ratios of measurements that were made in the same round, next to each other. */
function ratio(ours, theirs, key) {
  if (!ours || !theirs) return undefined;
  const all = ours.map((round, i) => (theirs[i]?.[key] ? round?.[key] / theirs[i][key] : NaN));
  const median = quantile(all, 0.5);
  return median === undefined ? undefined : {median, low: quantile(all, 0.25), high: quantile(all, 0.75)};
}

function verdict(metric, ours, ratios) {
  const {bar, better} = metric;
  if (!bar || ours === undefined) return undefined;
  const meets = (value, limit) => (better === 'lower' ? value <= limit : value >= limit);
  const pairs = [[ratios.nodePty?.median, bar.nodePty], [ratios.ceiling?.median, bar.ceiling], [ours, bar.value]];
  const known = pairs.filter(([value, limit]) => limit !== undefined && value !== undefined);
  return known.length > 0 ? known.every(([value, limit]) => meets(value, limit)) : undefined;
}

/** One row for each metric: {label, unit, values: {implementation: {median, p95}}, ratios, bar, pass}. */
export function judge(figure, results) {
  return figure.metrics.map((metric) => {
    const column = (name) => results[name].map((round) => round?.[metric.key]);
    const values = {};
    for (const name of Object.keys(results)) {
      const median = quantile(column(name), 0.5);
      // p95 is the bad end: for a throughput that is the low one.
      const p95 = quantile(column(name), metric.better === 'lower' ? 0.95 : 0.05);
      if (median !== undefined) values[name] = {median, p95};
    }
    const ratios = {
      nodePty: ratio(results.ours, results['node-pty'], metric.key),
      ceiling: ratio(results.ours, results[figure.ceiling], metric.key),
    };
    const {key, label, unit, better, bar} = metric;
    return {key, label, unit, better, bar, against: figure.against, values, ratios, pass: verdict(metric, values.ours?.median, ratios)};
  });
}
