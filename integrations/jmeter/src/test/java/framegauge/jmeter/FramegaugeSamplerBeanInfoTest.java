// SPDX-License-Identifier: BSD-3-Clause
package framegauge.jmeter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.beans.PropertyDescriptor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.ResourceBundle;

import org.apache.jmeter.testbeans.BeanInfoSupport;
import org.junit.jupiter.api.Test;

/** The form of the sampler: a word and an explanation for every field, and a field for every word. */
class FramegaugeSamplerBeanInfoTest {
    @Test
    void hasWordsForEveryField() {
        ResourceBundle words = ResourceBundle.getBundle("framegauge.jmeter.FramegaugeSamplerResources");
        List<String> wanted = new ArrayList<>(List.of("displayName", "test.displayName", "run.displayName"));
        for (PropertyDescriptor field : new FramegaugeSamplerBeanInfo().getPropertyDescriptors()) {
            if (field.getValue(BeanInfoSupport.DEFAULT) != null) {
                wanted.addAll(List.of(field.getName() + ".displayName", field.getName() + ".shortDescription"));
            }
        }
        assertEquals(3 + 2 * 6, wanted.size());
        wanted.forEach(key -> assertFalse(words.getString(key).isBlank(), key));
        assertTrue(wanted.containsAll(words.keySet()));
    }

    @Test
    void beginsWithTheValuesOfANewSampler() throws ReflectiveOperationException {
        FramegaugeSampler sampler = new FramegaugeSampler();
        for (String field : Arrays.asList("plan", "set", "expect", "program", "timeout")) {
            for (PropertyDescriptor one : new FramegaugeSamplerBeanInfo().getPropertyDescriptors()) {
                if (one.getName().equals(field)) {
                    assertEquals(one.getValue(BeanInfoSupport.DEFAULT), one.getReadMethod().invoke(sampler),
                            field);
                }
            }
        }
    }
}
