// Times in words. Nothing here touches the document, or reads a clock.

const digits = (number, count = 2) => String(number).padStart(count, '0');

// A time of day with its date and its zone, as the reader's own clock shows it: "2026-01-31 03:12:05.678 +01:00".
function stamp(unix, precise = true) {
  const at = new Date(unix), zone = -at.getTimezoneOffset(), off = Math.abs(zone);
  const day = `${at.getFullYear()}-${digits(at.getMonth() + 1)}-${digits(at.getDate())}`;
  const time = `${digits(at.getHours())}:${digits(at.getMinutes())}:${digits(at.getSeconds())}${precise ? '.' + digits(at.getMilliseconds(), 3) : ''}`;
  return `${day} ${time} ${zone < 0 ? '-' : '+'}${digits(Math.floor(off / 60))}:${digits(off % 60)}`;
}

const seconds = (ms) => (ms / 1000).toFixed(3) + ' s';
const span = (ms) => (ms >= 1000 ? (ms / 1000).toFixed(2) + ' s' : Number(ms.toFixed(1)) + ' ms');

// A moment of the page's clock: a time of day where `began` says when that clock began, seconds since then otherwise.
const moments = (ms, began, precise = true) => (began === undefined || began === null ? seconds(ms) : stamp(began + ms, precise));

// How long something lasts, in the two largest units.
function age(ms) {
  const all = Math.max(0, Math.floor(ms / 1000)), minutes = Math.floor(all / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  if (days) return `${days} d ${hours % 24} h`;
  if (hours) return `${hours} h ${minutes % 60} min`;
  return minutes ? `${minutes} min ${all % 60} s` : `${all} s`;
}
