// Draws the charts of the page from the data embedded in it. Their places are the figures with a `data-chart`.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const HEAT = "192, 74, 0";
  const PERCENTS = [0, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999, 99.9999, 100];

  const node = (name, attributes, ...children) => {
    const svg = /^(svg|path|line|rect|text|title|polygon)$/.test(name);
    const made = svg ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  // Figures, as ferrio writes them.
  const figure = (unit) => (value) => {
    const { steps, scale, space } = data.units[unit];
    let step = 0;
    while (value >= scale && step + 1 < steps.length) { value /= scale; step++; }
    const digits = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
    return value.toFixed(step === 0 && Number.isInteger(value) ? 0 : digits) + space + steps[step];
  };
  const trimmed = (format) => (value) => format(value).replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");
  const rate = figure("rate"), bandwidth = figure("bandwidth"), time = figure("time");
  const seconds = (ms) => `${+(ms / 1000).toFixed(3)} s`;
  const percent = (value) => `${+value.toFixed(4)} %`;
  const plain = (value) => String(+value.toFixed(2));

  // Axes: a place in 0..1 for a value, and the values that are marked.
  const linear = (max, format, name, base = 10, min = 0) => {
    const ticks = (count) => {
      const rough = Math.max((max - min) / count, Number.MIN_VALUE);
      let unit = 1;
      if (base === 1024) while (unit * 1024 <= rough) unit *= 1024;
      const power = unit * 10 ** Math.floor(Math.log10(rough / unit));
      const step = [1, 2, 5, 10].map((factor) => factor * power).find((wide) => wide >= rough);
      const all = [];
      for (let at = Math.ceil(min / step); at * step <= max * 1.000001; at++) all.push(at * step);
      return all;
    };
    return { place: (value) => (value - min) / (max - min || 1), ticks, format: trimmed(format), name, from: min, to: max };
  };
  const logarithmic = (min, max, format, name) => {
    const [low, high] = [Math.log10(min), Math.log10(max)];
    const place = (value) => (Math.log10(Math.max(value, min)) - low) / (high - low || 1);
    const ticks = (count) => {
      const marks = high - low > 2.5 ? [1] : high - low > 0.8 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
      let all = [];
      for (let power = Math.floor(low); power <= high; power++) {
        for (const mark of marks) all.push(mark * 10 ** power);
      }
      all = all.filter((value) => value >= min * 0.999 && value <= max * 1.001);
      const every = Math.ceil(all.length / count);
      return all.filter((_, at) => at % every === 0);
    };
    return { place, ticks, format: trimmed(format), name, from: min, to: max };
  };
  // Percent with a step for each nine: 0, 90, 99, 99.9.
  const nines = (last, name) => {
    const place = (value) => Math.min(value >= 100 ? last : -Math.log10(1 - value / 100), last) / last;
    const ticks = (count) => {
      const all = [0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999].filter((value) => place(value) < 1);
      return all.filter((_, at) => last < count || at !== 1);
    };
    return { place, ticks, format: (value) => String(value), name };
  };

  // A box with diagonal lines: the look of throttling does not depend on colours.
  const hatched = (kind, gap, x, y, width, height) => {
    let lines = "";
    for (let shift = gap - height; shift < width; shift += gap) {
      const [from, to] = [Math.max(0, -shift), Math.min(height, width - shift)];
      lines += `M${+(x + shift + from).toFixed(1)} ${+(y + from).toFixed(1)}L${+(x + shift + to).toFixed(1)} ${+(y + to).toFixed(1)}`;
    }
    return [node("rect", { class: kind, x, y, width, height }), node("path", { class: "hatch", d: lines })];
  };

  let charts = 0;

  // A chart with curves, perhaps over a heatmap: `spec` has the axes `x` and `y`, `lines` of which each has a `name`, `points` (null is a
  // gap) and `at` (its value at a position), `positions` in ascending order, `bands`, `heat` and the text of a position and of a value.
  function chart(place, spec) {
    const caption = place.querySelector("figcaption").firstChild.textContent;
    const id = `readout${charts++}`;
    const hidden = new Set();
    let at = -1, width = 0, cursor = null, frame = null;
    const about = spec.lines.map((line) => `${line.name}: ${line.about}`).join("; ");
    const plot = node("div", {
      class: "plot", tabindex: 0, role: "slider", "aria-label": `${caption}. ${about}`, "aria-describedby": id,
      "aria-valuemin": 0, "aria-valuemax": Math.max(spec.positions.length - 1, 0), "aria-valuenow": 0,
      "aria-valuetext": "arrow keys read the values",
    });
    const readout = node("p", { class: "readout quiet", id }, "Point at the chart, or use the arrow keys, to read values.");
    const style = (line) => line.style || `s${line.colour % 6} d${Math.floor(line.colour / 6) % 4}`;

    function draw() {
      const tall = Math.round(Math.min(320, Math.max(210, width * 0.42)));
      const [left, right, top, bottom] = [66, 14, 8, 40];
      const [wide, high] = [Math.max(width - left - right, 40), tall - top - bottom];
      const px = (value) => left + wide * Math.min(Math.max(spec.x.place(value), 0), 1);
      const py = (value) => top + high * (1 - Math.min(Math.max(spec.y.place(value), 0), 1));
      frame = { px, left, wide };
      const svg = node("svg", { viewBox: `0 0 ${width} ${tall}`, "aria-hidden": true });
      plot.replaceChildren();
      if (spec.heat) plot.append(heatmap(spec.heat, px, py, { width, tall, left, top, wide, high }));
      for (const band of spec.bands || []) {
        const from = px(band.from), wide = Math.max(px(band.to) - from, 2);
        if (band.kind === "throttled") svg.append(...hatched("throttled", 12, from, top, wide, high));
        else svg.append(node("rect", { class: band.kind, x: from, y: top, width: wide, height: high }));
      }
      for (const value of spec.y.ticks(5)) {
        const y = py(value);
        svg.append(node("line", { class: "grid", x1: left, x2: left + wide, y1: y, y2: y }));
        svg.append(node("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, spec.y.format(value)));
      }
      const ticks = spec.x.ticks(Math.max(2, Math.floor(wide / 60)));
      for (const value of ticks) {
        const x = px(value);
        if (!spec.heat) svg.append(node("line", { class: "grid", x1: x, x2: x, y1: top, y2: top + high }));
        const anchor = x > left + wide - 16 ? "end" : "middle";
        svg.append(node("text", { x, y: top + high + 16, "text-anchor": anchor }, spec.x.format(value)));
      }
      svg.append(node("text", { x: left + wide / 2, y: tall - 6, "text-anchor": "middle" }, spec.x.name));
      svg.append(node("line", { class: "axis", x1: left, x2: left + wide, y1: top + high, y2: top + high }));
      for (const line of spec.lines) {
        if (hidden.has(line)) continue;
        let path = "", on = false;
        for (const [x, y] of line.points) {
          if (y === null) { on = false; continue; }
          path += `${on ? "L" : "M"}${+px(x).toFixed(1)} ${+py(y).toFixed(1)}`;
          on = true;
        }
        svg.append(node("path", { class: `curve ${style(line)}`, d: path }));
      }
      cursor = node("line", { class: "cursor", y1: top, y2: top + high, visibility: "hidden" });
      svg.append(cursor);
      plot.append(svg);
      if (at >= 0) show(at);
    }

    function show(position) {
      at = Math.min(Math.max(position, 0), spec.positions.length - 1);
      if (at < 0 || !frame) return;
      const value = spec.positions[at];
      const x = frame.px(value);
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      cursor.setAttribute("visibility", "visible");
      const shown = spec.lines.filter((line) => !hidden.has(line)).map((line) => `${line.name} ${text(line, value)}`);
      const words = `${spec.position(value)}: ${shown.join(", ") || "nothing is shown"}`;
      readout.textContent = words;
      plot.setAttribute("aria-valuenow", at);
      plot.setAttribute("aria-valuetext", words);
    }
    const text = (line, value) => {
      const found = line.at(value);
      return found === null || found === undefined ? "–" : (line.text || spec.text)(found);
    };

    plot.addEventListener("keydown", (event) => {
      const last = spec.positions.length - 1;
      const moves = {
        ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + 10, PageDown: at - 10, Home: 0, End: last,
      };
      if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in moves)) return;
      event.preventDefault();
      show(moves[event.key]);
    });
    plot.addEventListener("pointermove", (event) => {
      if (!frame || spec.positions.length === 0) return;
      const box = plot.getBoundingClientRect();
      const x = (event.clientX - box.left) * (width / box.width);
      const away = (position) => Math.abs(frame.px(spec.positions[position]) - x);
      let [low, high] = [0, spec.positions.length - 1];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (frame.px(spec.positions[middle]) < x) low = middle; else high = middle;
      }
      show(away(low) <= away(high) ? low : high);
    });

    const legend = node("ul", { class: "legend" });
    for (const line of spec.lines) {
      const sample = node("svg", { viewBox: "0 0 26 10", "aria-hidden": true },
        node("path", { class: `curve ${style(line)}`, d: "M0 5L26 5" }));
      const button = node("button", { type: "button", "aria-pressed": true }, sample, node("span", {}, line.name));
      button.addEventListener("click", () => {
        if (!hidden.delete(line)) hidden.add(line);
        button.setAttribute("aria-pressed", !hidden.has(line));
        draw();
      });
      legend.append(node("li", {}, button));
    }

    const details = node("details", {}, node("summary", {}, "Data of this chart"));
    details.addEventListener("toggle", () => {
      if (!details.open || details.children.length > 1) return;
      const head = node("tr", {}, node("th", { scope: "col" }, spec.x.name));
      for (const line of spec.lines) head.append(node("th", { scope: "col", class: "n" }, line.name));
      const body = node("tbody", {});
      for (const value of spec.positions) {
        const row = node("tr", {}, node("th", { scope: "row" }, spec.position(value)));
        for (const line of spec.lines) row.append(node("td", { class: "n" }, text(line, value)));
        body.append(row);
      }
      const table = node("table", {}, node("caption", {}, caption), node("thead", {}, head), body);
      details.append(node("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": caption }, table));
    });

    place.append(plot, readout, legend, details);
    fit(plot, (now) => { width = now; draw(); });
  }

  // Draws again when the width of the place changes, and for paper.
  function fit(place, draw) {
    let last = 0;
    const measure = (wanted) => {
      const now = wanted || Math.round(place.clientWidth);
      if (now > 0 && now !== last) { last = now; draw(now); }
    };
    measure();
    new ResizeObserver(() => measure()).observe(place);
    addEventListener("beforeprint", () => measure(680));
    addEventListener("afterprint", () => measure());
  }

  function heatmap(heat, px, py, box) {
    const ratio = window.devicePixelRatio || 1;
    const canvas = node("canvas", { width: Math.round(box.wide * ratio), height: Math.round(box.high * ratio), "aria-hidden": true });
    Object.assign(canvas.style, {
      left: `${100 * box.left / box.width}%`, width: `${100 * box.wide / box.width}%`,
      top: `${100 * box.top / box.tall}%`, height: `${100 * box.high / box.tall}%`,
    });
    const pen = canvas.getContext("2d");
    const most = Math.log(1 + heat.most);
    heat.cells.forEach((row, at) => {
      const [from, to] = [px(heat.edges[at]) - box.left, px(heat.edges[at + 1]) - box.left].map((x) => Math.round(x * ratio));
      for (let cell = 0; cell < row.length; cell += 2) {
        const [up, down] = [row[cell] + 1, row[cell]].map((bucket) => Math.round((py(2 ** (bucket / 8)) - box.top) * ratio));
        pen.fillStyle = `rgba(${HEAT}, ${0.12 + 0.88 * Math.log(1 + row[cell + 1]) / most})`;
        pen.fillRect(from, up, Math.max(to - from, 1), Math.max(down - up, 1));
      }
    });
    return canvas;
  }

  // Latencies of all runs.
  const reached = (line, share) => {
    const rank = share * line.total;
    const found = line.sums.findIndex((sum) => sum >= rank - 1e-6);
    return line.ns[found < 0 ? line.ns.length - 1 : found];
  };
  // A job and direction has one colour in all charts.
  const colours = new Map(data.lines.map((line, colour) => [line.name, colour]));
  const colourOf = (run, track, direction) => {
    const name = `${run.label}${track.name} ${direction.name}`;
    if (!colours.has(name)) colours.set(name, colours.size);
    return colours.get(name);
  };
  const latencies = data.lines.map((line, colour) => {
    let sum = 0;
    const sums = line.counts ? line.counts.map((count) => (sum += count)) : line.percents.map((percent) => percent / 100);
    return { ...line, colour, sums, total: line.counts ? sum : 1 };
  });
  const lowest = Math.max(Math.min(...latencies.map((line) => line.ns[0])), 1);
  const highest = Math.max(...latencies.map((line) => line.ns[line.ns.length - 1]), lowest * 1.1);
  const most = Math.max(...latencies.map((line) => line.samples), 10);
  const middle = (line) => `half within ${time(reached(line, 0.5))}, 99 % within ${time(reached(line, 0.99))}`;

  function percentiles(place) {
    const last = Math.max(Math.log10(most), 1);
    const lines = latencies.map((line) => ({
      name: line.name, colour: line.colour, about: middle(line),
      points: line.ns.map((ns, at) => [Math.min(100 * line.sums[at] / line.total, 100 * (1 - 1 / line.samples)), ns]),
      at: (value) => (line.counts || value >= line.percents[0] ? reached(line, value / 100) : null),
    }));
    const positions = PERCENTS.filter((value) => value === 100 || -Math.log10(1 - value / 100) <= last);
    chart(place, {
      x: nines(last, "percent of I/Os"), y: logarithmic(lowest, highest, time, "latency"), lines, positions, position: percent, text: time,
    });
  }

  function distribution(place) {
    const x = logarithmic(lowest, highest, time, "latency");
    const lines = latencies.map((line) => {
      const share = (at) => 100 * line.sums[at] / line.total;
      return {
        name: line.name, colour: line.colour, about: middle(line),
        points: [[line.ns[0], line.counts ? 0 : share(0)], ...line.ns.map((ns, at) => [ns, share(at)])],
        at: (value) => {
          let found = line.ns.findIndex((ns) => ns > value);
          if (found < 0) found = line.ns.length;
          return found > 0 ? share(found - 1) : line.counts ? 0 : null;
        },
      };
    });
    const marks = [];
    for (let power = Math.floor(Math.log10(lowest)); 10 ** power <= highest; power++) {
      for (const mark of [1, 1.5, 2, 3, 5, 7]) marks.push(mark * 10 ** power);
    }
    const positions = [...marks.filter((value) => value > lowest && value < highest), highest];
    chart(place, { x, y: linear(100, percent, "share of I/Os"), lines, positions, position: (ns) => `up to ${time(ns)}`, text: percent });
  }

  // Figures over time: rows between the edges.
  const steps = (edges, values) => values.flatMap((value, at) => [[edges[at], value], [edges[at + 1], value]]);
  const inRow = (edges, values) => (ms) => {
    const found = edges.findIndex((edge) => edge >= ms);
    return found > 0 ? values[found - 1] : null;
  };
  const over = (values, format) => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? "nothing" : `${format(Math.min(...known))} to ${format(Math.max(...known))}`;
  };
  const row = (name, colour, edges, values, format) => ({
    name, colour, about: over(values, format), points: steps(edges, values), at: inRow(edges, values), values,
  });
  const end = (run) => Math.max(...[...run.tracks, ...run.devices].map((one) => one.edges[one.edges.length - 1]), 1);

  function timed(place, run, rows, format, base, top) {
    const edges = new Set([...run.tracks, ...run.devices].flatMap((one) => one.edges.slice(1)));
    const highest = top || Math.max(...rows.flatMap((one) => one.values).filter((value) => value !== null), 0) * 1.05 || 1;
    const bands = run.events.filter((event) => event.kind !== "error");
    chart(place, {
      x: linear(end(run), seconds, "time since the start"), y: linear(highest, format, "", base), lines: rows, bands: top ? [] : bands,
      positions: [...edges].sort((a, b) => a - b), position: seconds, text: format,
    });
  }

  const perSecond = (track, values) => values.map((value, at) => 1000 * value / Math.max(track.edges[at + 1] - track.edges[at], 1));
  function rates(place, run, key, format, base) {
    const rows = [];
    for (const track of run.tracks) {
      for (const direction of track.directions) {
        if (direction[key].length === 0) continue;
        const name = `${track.name} ${direction.name}`;
        rows.push(row(name, colourOf(run, track, direction), track.edges, perSecond(track, direction[key]), format));
      }
    }
    timed(place, run, rows, format, base);
  }

  const kinds = {
    iops: (place, run) => rates(place, run, "ios", rate, 10),
    bandwidth: (place, run) => rates(place, run, "bytes", bandwidth, 1024),
    mean: (place, run) => {
      const rows = [];
      for (const track of run.tracks) {
        for (const direction of track.directions) {
          if (!direction.mean) continue;
          const name = `${track.name} ${direction.name}`;
          rows.push(row(name, colourOf(run, track, direction), track.edges, direction.mean, time));
          if (direction.max.some((ns) => ns > 0)) {
            rows.push(row(`${name} maximum`, colours.size + rows.length, track.edges, direction.max, time));
          }
        }
      }
      timed(place, run, rows, time, 10);
    },
    depth: (place, run) => {
      const known = run.tracks.filter((track) => track.depth.some((depth) => depth !== null));
      const rows = known.map((track) => row(track.name, colourOf(run, track, track.directions[0]), track.edges, track.depth, plain));
      timed(place, run, rows, plain, 10);
    },
    utilisation: (place, run) => {
      timed(place, run, run.devices.map((one, at) => row(one.name, at, one.edges, one.busy, percent)), percent, 10, 100);
    },
    heatmap: (place, run) => {
      const track = run.tracks[place.dataset.track];
      const direction = track.directions[place.dataset.direction];
      const quantile = (share) => direction.cells.map((cells) => {
        let rank = 0;
        for (let cell = 1; cell < cells.length; cell += 2) rank += cells[cell] * share;
        for (let cell = 0; cell < cells.length; cell += 2) {
          rank -= cells[cell + 1];
          if (rank <= 1e-6) return 2 ** ((cells[cell] + 0.5) / 8);
        }
        return null;
      });
      let [low, high, most] = [Infinity, 0, 1];
      for (const cells of direction.cells) {
        for (let cell = 0; cell < cells.length; cell += 2) {
          low = Math.min(low, cells[cell]);
          high = Math.max(high, cells[cell] + 1);
          most = Math.max(most, cells[cell + 1]);
        }
      }
      const largest = direction.max.map((ns) => ns || null);
      const lines = [["median", quantile(0.5)], ["99th percentile", quantile(0.99)], ["maximum", largest]].map(([name, values], at) => (
        { ...row(name, at, track.edges, values, time), style: `s5 d${at}` }
      ));
      const ios = row("I/Os", 0, track.edges, direction.ios, String);
      chart(place, {
        x: linear(end(run), seconds, "time since the start"),
        y: logarithmic(2 ** (low / 8), Math.max(2 ** (high / 8), ...direction.max), time, ""), lines,
        heat: { edges: track.edges, cells: direction.cells, most },
        positions: track.edges.slice(1), position: (ms) => `${seconds(ms)}: ${ios.at(ms)} I/Os`, text: time,
      });
    },
    phases: (place, run) => {
      const about = run.tracks.map((track) => `${track.name} from ${seconds(track.edges[0])} to ${seconds(track.edges[track.edges.length - 1])}`);
      // Throttled CPUs have a line of their own.
      const ofCpus = run.events.filter((event) => event.track === undefined);
      const names = [...run.tracks.map((track) => track.name), ...(ofCpus.length > 0 ? ["CPUs of all jobs"] : [])];
      if (ofCpus.length > 0) about.push(`the CPUs were throttled ${ofCpus.length === 1 ? "once" : `${ofCpus.length} times`}`);
      const plot = node("div", { class: "plot", tabindex: 0, role: "img", "aria-label": `Phases and events. ${about.join("; ")}` });
      place.append(plot);
      fit(plot, (width) => {
        const [left, wide, high] = [8, width - 22, names.length * 38 + 40];
        const x = linear(end(run), seconds, "time since the start");
        const px = (ms) => left + wide * Math.min(x.place(ms), 1);
        const svg = node("svg", { viewBox: `0 0 ${width} ${high}`, "aria-hidden": true });
        const bar = (kind, y, from, to) => {
          svg.append(node("rect", { class: kind, x: px(from), y, width: Math.max(px(to) - px(from), 2), height: 12, rx: 2 }));
        };
        for (const value of x.ticks(Math.max(2, Math.floor(wide / 60)))) {
          const anchor = px(value) > left + wide - 16 ? "end" : value === 0 ? "start" : "middle";
          svg.append(node("line", { class: "grid", x1: px(value), x2: px(value), y1: 0, y2: high - 36 }));
          svg.append(node("text", { x: px(value), y: high - 22, "text-anchor": anchor }, x.format(value)));
        }
        svg.append(node("text", { x: left + wide / 2, y: high - 5, "text-anchor": "middle" }, x.name));
        const throttled = (y, event) => svg.append(...hatched("bar throttled", 7, px(event.from), y, Math.max(px(event.to) - px(event.from), 2), 12));
        names.forEach((full, at) => {
          const y = at * 38 + 20;
          const room = Math.max(8, Math.floor(wide / 7.5));
          const name = full.length > room ? `${full.slice(0, room - 1)}…` : full;
          svg.append(node("text", { class: "name", x: left, y: y - 6 }, name, node("title", {}, full)));
          if (at === run.tracks.length) return ofCpus.forEach((event) => throttled(y, event));
          const track = run.tracks[at];
          const last = track.edges[track.edges.length - 1];
          const begin = Math.min(Math.max(track.ramp, track.edges[0]), last);
          if (begin > track.edges[0]) bar("bar early", y, track.edges[0], begin);
          bar("bar", y, begin, last);
          const events = run.events.filter((event) => event.track === at);
          for (const event of events.filter((event) => event.kind === "throttled")) throttled(y, event);
          for (const event of events) {
            if (event.kind === "stall") bar("bar stall", y, event.from, event.to);
            if (event.kind === "error") {
              const middle = px((event.from + event.to) / 2);
              svg.append(node("polygon", { class: "error", points: `${middle},${y - 3} ${middle - 5},${y + 15} ${middle + 5},${y + 15}` }));
            }
          }
        });
        plot.replaceChildren(svg);
      });
    },
    percentiles, distribution,
  };
  for (const place of document.querySelectorAll("figure[data-chart]")) {
    kinds[place.dataset.chart](place, data.runs[place.dataset.run]);
  }

  // Light and dark: the browser's choice until the button is used.
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.style.colorScheme || (prefersDark.matches ? "dark" : "light")) === "dark";
  const label = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
  button.hidden = false;
  button.addEventListener("click", () => { root.style.colorScheme = isDark() ? "light" : "dark"; label(); });
  prefersDark.addEventListener("change", label);
  label();
})();
