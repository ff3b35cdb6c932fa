/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/event.h"

#include <math.h>
#include <string.h>

#include "daemon/base/wire.h"
#include "scheduler/tuning/metric_report.h"

/* The numbers of the fields that are read. */
enum { EVENT_WALL_TIME = 1, EVENT_STEP = 2, EVENT_FILE_VERSION = 3, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1 };
enum { VALUE_TAG = 1, VALUE_SIMPLE = 2, VALUE_TENSOR = 8, VALUE_METADATA = 9 };
enum { METADATA_PLUGIN_DATA = 1 };
enum { PLUGIN_DATA_NAME = 1 };
enum { TENSOR_TYPE = 1, TENSOR_SHAPE = 2, TENSOR_CONTENT = 4 };
enum { SHAPE_DIMENSION = 2 };
enum { DIMENSION_SIZE = 1 };

static double float_of(uint64_t bits)
{
	const uint32_t part = (uint32_t)bits;
	float value;

	memcpy(&value, &part, sizeof(value));
	return (double)value;
}

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static double int32_of(uint64_t bits)
{
	return (double)(int32_t)(uint32_t)bits;
}

static double int64_of(uint64_t bits)
{
	return (double)(int64_t)bits;
}

/* IEEE 754's binary16: one bit of sign, five of exponent, ten of fraction. */
static double half_of(uint64_t bits)
{
	const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
	double value;

	if (exponent == 31)
		value = fraction ? NAN : INFINITY;
	else if (exponent)
		value = ldexp(1024 + fraction, exponent - 25);
	else
		value = ldexp(fraction, -24);
	return bits & 0x8000 ? -value : value;
}

/* Reads a bfloat16, which is the upper half of a float. */
static double bfloat16_of(uint64_t bits)
{
	return float_of((bits & 0xffff) << 16);
}

/* How elements of each type are written: in tensor_content, with @bytes each, or in the tensor's field @field. */
static const struct element {
	uint64_t type; /* DT_… */
	uint32_t field;
	enum wire_type wire;
	size_t bytes;
	double (*to_double)(uint64_t bits);
} elements[] = {
	{ 1, 5, WIRE_32_BITS, 4, float_of },     /* DT_FLOAT, float_val */
	{ 2, 6, WIRE_64_BITS, 8, double_of },    /* DT_DOUBLE, double_val */
	{ 3, 7, WIRE_VARINT, 4, int32_of },      /* DT_INT32, int_val */
	{ 9, 10, WIRE_VARINT, 8, int64_of },     /* DT_INT64, int64_val */
	{ 14, 13, WIRE_VARINT, 2, bfloat16_of }, /* DT_BFLOAT16, half_val */
	{ 19, 13, WIRE_VARINT, 2, half_of },     /* DT_HALF, half_val */
};

/* Fields of a tensor. They are collected first, because they come in any order; then the type is checked. */
struct tensor {
	uint64_t type;
	struct wire content;
	bool is_single; /* its shape has one element */
};

static bool is_bytes(const struct wire_field *field, uint32_t number)
{
	return field->number == number && field->type == WIRE_BYTES;
}

static bool is_varint(const struct wire_field *field, uint32_t number)
{
	return field->number == number && field->type == WIRE_VARINT;
}

static bool dimension_is_one(struct wire *wire)
{
	struct wire_field field;
	uint64_t size = 0;

	while (wire_next(wire, &field))
		if (is_varint(&field, DIMENSION_SIZE))
			size = field.value;
	return size == 1 && !wire->is_broken;
}

static bool shape_is_single(struct wire *wire)
{
	struct wire_field field;
	bool is_single = true;

	while (wire_next(wire, &field))
		if (is_bytes(&field, SHAPE_DIMENSION))
			is_single &= dimension_is_one(&field.bytes);
	return is_single && !wire->is_broken;
}

/* Reads the tensor's elements in @field, packed or not, if it is the field for their type. *ret_bits: the last one; their
 * number is added to *count. False: malformed. */
static bool element_read(const struct element *element, struct wire_field *field, uint64_t *ret_bits,
			 size_t *count)
{
	if (field->number != element->field)
		return true;
	if (field->type == element->wire) {
		*ret_bits = field->value;
		++*count;
	} else if (field->type == WIRE_BYTES) {
		while (wire_next_packed(&field->bytes, element->wire, ret_bits))
			++*count;
	}
	return !field->bytes.is_broken;
}

/* The value of the only element in a tensor's fields. NaN: there are none or several, or the tensor is malformed. */
static double elements_read(const struct element *element, struct wire wire)
{
	struct wire_field field = { 0 };
	uint64_t bits = 0;
	size_t count = 0;

	while (wire_next(&wire, &field))
		if (!element_read(element, &field, &bits, &count))
			return NAN;
	return count == 1 ? element->to_double(bits) : NAN;
}

static double content_read(const struct element *element, struct wire content)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < element->bytes; i++)
		bits |= (uint64_t)content.at[i] << 8 * i;
	return element->to_double(bits);
}

/* NaN: no scalar. False: malformed. */
static bool tensor_read(struct wire wire, double *ret_value)
{
	struct tensor tensor = { .is_single = true };
	const struct wire whole = wire;
	struct wire_field field;

	*ret_value = NAN;
	while (wire_next(&wire, &field))
		if (is_varint(&field, TENSOR_TYPE))
			tensor.type = field.value;
		else if (is_bytes(&field, TENSOR_SHAPE))
			tensor.is_single &= shape_is_single(&field.bytes);
		else if (is_bytes(&field, TENSOR_CONTENT))
			tensor.content = field.bytes;
	for (size_t i = 0; tensor.is_single && i < sizeof(elements) / sizeof(elements[0]); i++) {
		if (elements[i].type != tensor.type)
			continue;
		if (tensor.content.at == tensor.content.end)
			*ret_value = elements_read(&elements[i], whole);
		else if (wire_left(&tensor.content) == elements[i].bytes)
			*ret_value = content_read(&elements[i], tensor.content);
	}
	return !wire.is_broken;
}

static bool plugin_is_scalars(struct wire *wire)
{
	static const char scalars[] = "scalars";
	struct wire_field field;
	bool is_scalars = true;

	while (wire_next(wire, &field))
		if (is_bytes(&field, PLUGIN_DATA_NAME)) {
			const size_t length = wire_left(&field.bytes);

			is_scalars = length == 0 || (length == sizeof(scalars) - 1 &&
						     memcmp(field.bytes.at, scalars, length) == 0);
		}
	return is_scalars && !wire->is_broken;
}

static bool metadata_is_scalars(struct wire *wire)
{
	struct wire_field field;
	bool is_scalars = true;

	while (wire_next(wire, &field))
		if (is_bytes(&field, METADATA_PLUGIN_DATA))
			is_scalars &= plugin_is_scalars(&field.bytes);
	return is_scalars && !wire->is_broken;
}

/* One value of a summary. False: malformed. */
static bool value_read(const struct event_taker *taker, void *arg, struct wire wire)
{
	struct wire tag = { 0 };
	struct wire_field field;
	double value = NAN;
	bool is_scalar = false, is_scalars = true, is_whole = true;

	while (wire_next(&wire, &field)) {
		if (is_bytes(&field, VALUE_TAG)) {
			tag = field.bytes;
		} else if (field.number == VALUE_SIMPLE && field.type == WIRE_32_BITS) {
			value = float_of(field.value);
			is_scalar = true;
		} else if (is_bytes(&field, VALUE_TENSOR)) {
			is_whole &= tensor_read(field.bytes, &value);
			is_scalar = !isnan(value);
		} else if (is_bytes(&field, VALUE_METADATA)) {
			is_scalars &= metadata_is_scalars(&field.bytes);
		}
	}
	if (wire.is_broken || !is_whole)
		return false;
	if (!tag.at)
		return true;
	is_scalar &= is_scalars;
	taker->value(arg, (const char *)tag.at, wire_left(&tag), is_scalar, is_scalar ? value : NAN);
	return true;
}

static bool summary_read(const struct event_taker *taker, void *arg, struct wire wire)
{
	struct wire_field field;

	while (wire_next(&wire, &field))
		if (is_bytes(&field, SUMMARY_VALUE) && !value_read(taker, arg, field.bytes))
			return false;
	return !wire.is_broken;
}

/* Reads the time and the step of an event. False: malformed. */
static bool moment_read(struct wire wire, double *ret_time_s, int64_t *ret_step)
{
	struct wire_field field;
	double time_s = 0;
	int64_t step = 0;

	while (wire_next(&wire, &field))
		if (field.number == EVENT_WALL_TIME && field.type == WIRE_64_BITS)
			time_s = double_of(field.value);
		else if (is_varint(&field, EVENT_STEP))
			step = (int64_t)field.value;
	*ret_time_s = time_s;
	*ret_step = step;
	return !wire.is_broken;
}

enum event_kind event_kind(const uint8_t *data, size_t length)
{
	static const char version[] = "brain.Event:"; /* followed by a number: 2 since TensorFlow's first release */
	/* @data may be NULL if there are no bytes */
	struct wire wire = { .at = data, .end = length ? data + length : data };
	enum event_kind kind = EVENT_OTHER;
	struct wire_field field;

	while (wire_next(&wire, &field))
		if (is_bytes(&field, EVENT_FILE_VERSION) && wire_left(&field.bytes) >= sizeof(version) - 1 &&
		    memcmp(field.bytes.at, version, sizeof(version) - 1) == 0)
			kind = EVENT_VERSION;
	return wire.is_broken ? EVENT_MALFORMED : kind;
}

bool event_read(const uint8_t *data, size_t length, const struct event_taker *taker, void *arg)
{
	struct wire wire = { .at = data, .end = data + length };
	const struct wire whole = wire;
	struct wire_field field;
	double time_s;
	int64_t step;

	if (!moment_read(whole, &time_s, &step))
		return false;
	taker->begin(arg, step, time_s);
	while (wire_next(&wire, &field))
		if (is_bytes(&field, EVENT_SUMMARY) && !summary_read(taker, arg, field.bytes))
			return false;
	return true;
}

/* ---- adding an event to a report ---- */

struct reporting {
	struct metric_report *report;
	struct measurement measurement;
};

static void report_begin(void *arg, int64_t step, double time_s)
{
	struct reporting *reporting = arg;

	reporting->measurement = metric_report_start(reporting->report, step, time_s);
}

static void report_value(void *arg, const char *tag, size_t tag_length, bool is_scalar, double value)
{
	struct reporting *reporting = arg;

	if (is_scalar || metric_report_wants(reporting->report, tag, tag_length))
		metric_report_value(reporting->report, &reporting->measurement, tag, tag_length, value);
}

void event_take(struct metric_report *report, const uint8_t *data, size_t length)
{
	static const struct event_taker taker = { report_begin, report_value };
	struct reporting reporting = { .report = report };

	if (event_read(data, length, &taker, &reporting))
		metric_report_add(report, &reporting.measurement);
	else
		report->is_broken = true;
}
