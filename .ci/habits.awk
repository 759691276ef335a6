# Counts habits of prose that stop a reader, per 100,000 words of comments and pages: a clause as a noun ("what is asked"),
# "one that", "so many", "is no X", "nobody". A plain sentence names the thing first: subject, verb, object.
function hits(text, pattern,   n) { n = gsub(pattern, "&", text); return n }
{
    line = $0
    sub(/^[ \t]+/, "", line)
    if (FILENAME ~ /\.md$/) {
        if (line ~ /^```/) { fenced[FILENAME] = !fenced[FILENAME]; next }
        if (fenced[FILENAME]) next
    } else if (line !~ /^\/\//) next
    words += split(line, unused)
    line = " " line " "
    what += hits(line, "[^A-Za-z_][Ww]hat (is|was|are|were|has|may|it|they|that|a|an|the|others|nobody|cannot|still)[^a-z_]")
    one += hits(line, "[^A-Za-z_](one|those|some) (that|whose|of which)[^a-z_]")
    so += hits(line, "[^A-Za-z_][Ss]o (many|much|long)[^a-z_]")
    no += hits(line, "[^A-Za-z_]is no [a-z]+")
    nobody += hits(line, "[^A-Za-z_]([Nn]obody|[Ww]hoever)[^a-z_]")
}
END { printf "%d %d %d %d %d\n", 1e5*what/words, 1e5*one/words, 1e5*so/words, 1e5*no/words, 1e5*nobody/words }
