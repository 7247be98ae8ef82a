/* SPDX-License-Identifier: MIT */
/*
 * limit - how fast two threads could be without a file system: the ruler of the
 * benchmarks
 *
 * usage: limit ARRAY TASK [THREADS]    TASK: jsonl csv t idx raw-t
 *
 * Reads the chunks of the array `trials` that make_stores.py writes (one dimension,
 * zstd), decodes and formats them, and writes the text to standard output in order. Knows
 * this one record type, and shares no code with zarrfs.
 */
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#include <zstd.h>

#if __has_include(<dragonbox/dragonbox.h>)
#include <dragonbox/dragonbox.h>
#else
#include <dragonbox-1.1.3/dragonbox/dragonbox.h>
#endif

namespace
{

/* idx i4, count i4, t f8, x f8, y f4, label U8, ok ? - packed, little-endian. */
constexpr std::size_t record_size = 61, at_count = 4, at_t = 8, at_x = 16, at_y = 24,
		      at_label = 28, at_ok = 60;
constexpr std::size_t chunk_records = 65536;

template <class T> T load(const char *p)
{
	T v;

	std::memcpy(&v, p, sizeof(v));
	return v;
}

char *put_digits(char *out, std::uint64_t v)
{
	char tmp[20];
	int n = 0;

	do
		tmp[n++] = static_cast<char>('0' + v % 10);
	while ((v /= 10) != 0);
	while (n > 0)
		*out++ = tmp[--n];
	return out;
}

char *put_int(char *out, std::int32_t v)
{
	std::uint32_t m = static_cast<std::uint32_t>(v);

	if (v < 0) {
		*out++ = '-';
		m = -m;
	}
	return put_digits(out, m);
}

/* As Python's repr lays it out. */
char *put_layout(char *out, std::uint64_t significand, int exponent)
{
	char digits[20];
	int n = static_cast<int>(put_digits(digits, significand) - digits);
	int point = n + exponent; /* digits before the point */

	if (point > 16 || point < -3) {
		int e = point - 1;

		*out++ = digits[0];
		if (n > 1) {
			*out++ = '.';
			out = std::copy(digits + 1, digits + n, out);
		}
		*out++ = 'e';
		*out++ = e < 0 ? '-' : '+';
		e = std::abs(e);
		if (e < 10)
			*out++ = '0';
		return put_digits(out, static_cast<std::uint64_t>(e));
	}
	if (point <= 0) {
		*out++ = '0';
		*out++ = '.';
		for (int i = point; i < 0; i++)
			*out++ = '0';
		return std::copy(digits, digits + n, out);
	}
	for (int i = 0; i < std::max(n, point); i++) {
		if (i == point)
			*out++ = '.';
		*out++ = i < n ? digits[i] : '0';
	}
	if (point >= n) {
		*out++ = '.';
		*out++ = '0';
	}
	return out;
}

template <class F> char *put_float(char *out, F v, bool json)
{
	if (!std::isfinite(v)) {
		const char *word = json            ? "null"
		                   : std::isnan(v) ? "nan"
		                   : v < 0         ? "-inf"
		                                   : "inf";

		return std::copy(word, word + std::strlen(word), out);
	}
	if (std::signbit(v))
		*out++ = '-';
	if (v == 0)
		return std::copy_n("0.0", 3, out);
	auto d = jkj::dragonbox::to_decimal(std::fabs(v));
	return put_layout(out, d.significand, d.exponent);
}

/* The labels hold no character that would need an escape. */
char *put_label(char *out, const char *p)
{
	for (int i = 0; i < 8; i++) {
		std::uint32_t c = load<std::uint32_t>(p + 4 * i);

		if (c == 0)
			break;
		if (c < 0x80) {
			*out++ = static_cast<char>(c);
		} else {
			*out++ = static_cast<char>(0xc0 | c >> 6);
			*out++ = static_cast<char>(0x80 | (c & 0x3f));
		}
	}
	return out;
}

char *put_text(char *out, const char *text)
{
	return std::copy(text, text + std::strlen(text), out);
}

char *put_jsonl(char *out, const char *r)
{
	out = put_int(put_text(out, "{\"idx\":"), load<std::int32_t>(r));
	out = put_int(put_text(out, ",\"count\":"), load<std::int32_t>(r + at_count));
	out = put_float(put_text(out, ",\"t\":"), load<double>(r + at_t), true);
	out = put_float(put_text(out, ",\"x\":"), load<double>(r + at_x), true);
	out = put_float(put_text(out, ",\"y\":"), load<float>(r + at_y), true);
	out = put_label(put_text(out, ",\"label\":\""), r + at_label);
	return put_text(out, r[at_ok] ? "\",\"ok\":true}\n" : "\",\"ok\":false}\n");
}

char *put_csv(char *out, const char *r)
{
	out = put_int(out, load<std::int32_t>(r));
	*out++ = ',';
	out = put_int(out, load<std::int32_t>(r + at_count));
	*out++ = ',';
	out = put_float(out, load<double>(r + at_t), false);
	*out++ = ',';
	out = put_float(out, load<double>(r + at_x), false);
	*out++ = ',';
	out = put_float(out, load<float>(r + at_y), false);
	*out++ = ',';
	out = put_label(out, r + at_label);
	return put_text(out, r[at_ok] ? ",1\n" : ",0\n");
}

char *put_t(char *out, const char *r)
{
	out = put_float(out, load<double>(r + at_t), false);
	*out++ = '\n';
	return out;
}

char *put_idx(char *out, const char *r)
{
	out = put_int(out, load<std::int32_t>(r));
	*out++ = '\n';
	return out;
}

char *put_raw_t(char *out, const char *r)
{
	std::memcpy(out, r + at_t, 8);
	return out + 8;
}

struct task {
	const char *name;
	char *(*put)(char *out, const char *record);
};

constexpr task tasks[] = {{"jsonl", put_jsonl},
                          {"csv", put_csv},
                          {"t", put_t},
                          {"idx", put_idx},
                          {"raw-t", put_raw_t}};

[[noreturn]] void fail(const std::string &what)
{
	std::fprintf(stderr, "limit: %s\n", what.c_str());
	std::exit(1);
}

void write_all(const char *p, std::size_t n)
{
	while (n > 0) {
		ssize_t done = write(STDOUT_FILENO, p, n);

		if (done < 0)
			fail("cannot write");
		p += done;
		n -= static_cast<std::size_t>(done);
	}
}

/* The number behind "shape": [ in the metadata. */
std::size_t count_records(const std::string &array)
{
	std::ifstream f(array + "/zarr.json");
	std::string text{std::istreambuf_iterator<char>(f),
	                 std::istreambuf_iterator<char>()};
	std::size_t at = text.find("\"shape\"");

	if (at == std::string::npos)
		fail(array + " is no array");
	return std::strtoull(text.c_str() + text.find_first_of("0123456789", at), nullptr,
	                     10);
}

std::vector<char> read_file(const std::string &path)
{
	int fd = open(path.c_str(), O_RDONLY);
	std::vector<char> bytes;

	if (fd < 0)
		fail("cannot open " + path);
	bytes.resize(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)));
	if (pread(fd, bytes.data(), bytes.size(), 0) !=
	    static_cast<ssize_t>(bytes.size()))
		fail("cannot read " + path);
	close(fd);
	return bytes;
}

struct job {
	std::string array;
	std::size_t records, chunks;
	const task *what;
	std::mutex lock;
	std::condition_variable turn;
	std::size_t next = 0, written = 0;

	void work();
};

void job::work()
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	std::vector<char> decoded(chunk_records * record_size), text(chunk_records * 320);

	for (;;) {
		std::unique_lock<std::mutex> held(lock);
		std::size_t c = next++;
		held.unlock();
		if (c >= chunks)
			break;
		std::vector<char> stored = read_file(array + "/c/" + std::to_string(c));
		std::size_t n = std::min(chunk_records, records - c * chunk_records);
		char *out = text.data();

		if (ZSTD_decompressDCtx(context, decoded.data(), decoded.size(),
		                        stored.data(), stored.size()) != decoded.size())
			fail("cannot decode");
		for (std::size_t i = 0; i < n; i++)
			out = what->put(out, decoded.data() + i * record_size);
		held.lock();
		turn.wait(held, [&] { return written == c; });
		held.unlock();
		write_all(text.data(), static_cast<std::size_t>(out - text.data()));
		held.lock();
		written++;
		turn.notify_all();
	}
	ZSTD_freeDCtx(context);
}

} // namespace

int main(int argc, char **argv)
{
	job j;
	std::vector<std::thread> threads;

	if (argc < 3)
		fail("usage: limit ARRAY jsonl|csv|t|idx|raw-t [THREADS]");
	auto found = std::find_if(std::begin(tasks), std::end(tasks), [&](const task &t) {
		return std::strcmp(t.name, argv[2]) == 0;
	});
	if (found == std::end(tasks))
		fail(std::string("no such task: ") + argv[2]);
	j.array = argv[1];
	j.records = count_records(j.array);
	j.chunks = (j.records + chunk_records - 1) / chunk_records;
	j.what = found;
	for (int i = 0; i < (argc > 3 ? std::atoi(argv[3]) : 2); i++)
		threads.emplace_back([&] { j.work(); });
	for (auto &t : threads)
		t.join();
	return 0;
}
